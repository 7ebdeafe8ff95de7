"""A person's cases as a list: how far each is, of whom, where and when, and how the reply begins."""

from collections.abc import Sequence
from datetime import datetime

from bot.domain.case import CaseStatus, to_case_id
from bot.log.recent import PageEnd, RecentCase
from bot.slack import ids
from bot.slack.mrkdwn import clip
from bot.slack.post import Post
from bot.views.elements import Block, actions, button, quote, section, short_date
from bot.views.links import permalink
from bot.views.unscored import in_short
from bot.weeks.own_cases import ListedCase, NoText
from judge.sanitize import sanitize as legible

PAGE = 10
_WORDS = 60
_NAME = 80
_TYPED = "typed"
_MISSING = {
    NoText.DELETED: "message deleted",
    NoText.FORGOTTEN: "forgotten",
    NoText.HIDDEN: "text shown in its channel alone",
    NoText.NONE: "no text",
    NoText.NOT_KEPT: "text not kept",
    NoText.NOT_READ: "not read yet",
}
_NONE = "You have not asked for a score yet. On any message: More actions (⋮) → *Score this reply*, or type `/judge`."
_NO_OLDER = "There is nothing older."


def recent_page(
    shown: Sequence[ListedCase], workspace_url: str, before: PageEnd | None = None, *, has_older: bool = False
) -> Post:
    """A page of a person's cases, and buttons to the others."""
    title = _NO_OLDER if before else _NONE
    if shown:
        title = "*Your older cases*" if before else "*Your cases*, newest first"
    buttons = [button("Newest", ids.ACTION_RECENT_NEWEST)] if before else []
    if has_older:
        buttons.append(button("Older", ids.ACTION_RECENT_OLDER, _from_page_end(shown[-1].case)))
    row = [actions(*buttons)] if buttons else []
    return Post(title.replace("*", ""), [section(title), *recent_blocks(shown, workspace_url), *row])


def recent_blocks(shown: Sequence[ListedCase], workspace_url: str, *, says_how_to_drop: bool = True) -> list[Block]:
    """The list alone: for each case a line, and how the reply begins; how to drop those that wait for a question."""
    blocks: list[Block] = []
    for listed in shown:
        words, case = _beginning(listed.text), listed.case
        line = _line(listed, workspace_url, has_words=bool(words))
        if says_how_to_drop and case.status == CaseStatus.ASKED:
            line += f" · `/judge forget {case.id}` drops it"
        blocks.append(section(line))
        if words:
            blocks.append(quote(words, len(words)))
    return blocks


def to_page_end(value: str) -> PageEnd | None:
    """The place in the list that a button remembers; None, for its beginning, where it remembers none."""
    at, _, case_id = value.partition("/")
    try:
        moment, number = datetime.fromisoformat(at), to_case_id(case_id)
    except ValueError:
        return None
    return (moment, number) if moment.tzinfo and number is not None else None


def _from_page_end(case: RecentCase) -> str:
    return f"{case.created_at.isoformat()}/{case.id}"


def _line(listed: ListedCase, workspace_url: str, *, has_words: bool) -> str:
    case = listed.case
    who = _TYPED if case.message_ts is None else clip(listed.author, _NAME)
    where = f"{who} in {_where(case.channel_id)}" if who else _where(case.channel_id)
    parts = [_linked(case, workspace_url), where, short_date(case.created_at), f"case {case.id}"]
    if case.says_only_you:
        parts.append("only you")
    if not has_words:
        parts.append(_MISSING[listed.missing or NoText.NONE])
    return " · ".join(parts)


def _beginning(text: str) -> str:
    words = " ".join(legible(text).split())
    return words if len(words) <= _WORDS else f"{words[:_WORDS].rstrip()}…"


def _linked(case: RecentCase, workspace_url: str) -> str:
    ts = case.reply_ts or case.message_ts or case.thread_ts
    if ts is None:
        return _state(case)
    link = permalink(workspace_url, case.channel_id, ts, case.thread_ts or case.parent_ts)
    return f"<{link}|{_state(case)}>"


def _state(case: RecentCase) -> str:
    if case.score is not None:
        return f"Score {case.score} of {case.highest}"
    if case.unscored_reason is not None:
        return f"Unscored: {in_short(case.unscored_reason)}"
    return "Waiting for your question" if case.status == CaseStatus.ASKED else "Being scored"


def _where(channel_id: str) -> str:
    if not channel_id:
        return "a workflow"
    # Slack names a private channel only to those who are in it.
    return "direct messages" if channel_id.startswith("D") else f"<#{channel_id}>"
