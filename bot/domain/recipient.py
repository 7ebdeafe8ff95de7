"""Who is told something for themselves alone, and where they are."""

from dataclasses import dataclass

from bot.domain.case import Case, CaseSource

_ASKED_IN_THE_CHANNEL = {CaseSource.LINK, CaseSource.TEXT, CaseSource.MODAL}


@dataclass(frozen=True)
class Recipient:
    """A person, and the place where they look for an answer.

    `channel_id` is empty where they are in none. `thread_ts` names a thread that is there already. `response_url`
    answers what they did last, for half an hour. `is_in_channel` is whether they stand in the channel itself, as after
    a command or a window, and not at a message in it.
    """

    user_id: str
    channel_id: str
    thread_ts: str | None = None
    response_url: str | None = None
    is_in_channel: bool = False


def requester_of(case: Case) -> Recipient:
    """Whoever asked for a case, where they asked for it."""
    is_in_channel = case.source in _ASKED_IN_THE_CHANNEL
    return Recipient(case.requester_id, case.channel_id, case.parent_ts, case.response_url, is_in_channel)
