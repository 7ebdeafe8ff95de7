"""Which cases a person may see, when a button or a window leads to one, and how a list of their own
shows them.
"""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bot.domain.blocker import FORGOTTEN, RefusedError
from bot.domain.case import CaseStatus, LoggedCase
from bot.domain.verdict import CaseVerdict
from bot.pipeline.verdict_text import in_short
from bot.slack.blocks import Block, fairness, permalink, quote, run, section, short_date
from bot.slack.invocation import Invocation
from bot.slack.members import Members, MembershipError, Memberships
from bot.slack.mrkdwn import clip
from bot.store.cases import Cases
from judge.evaluation.stats import low_to
from judge.scoring.rubric import Scale
from judge.scoring.sanitize import one_line


class NoCaseError(LookupError):
    """A button or window names a case that is not in the store (any more), or that this person may
    not see.
    """


_WORDS = 61
_REASON = 121
_BEGINNING = (
    300  # more than is shown, because whitespace and invisible characters are removed from it
)


@dataclass(frozen=True)
class ListedCase:
    """A case as a list shows it.

    `author` is the name of the reply's author, empty if unknown. `text` is the beginning of the
    reply, and `missing` says why it is not shown. `reason` is the judge's for a low score.
    """

    case: LoggedCase
    author: str
    text: str = ""
    missing: str = ""
    reason: str = ""


@dataclass(frozen=True)
class CaseAccess:
    """Gives people the cases that they may see; raises `NoCaseError`, or `MembershipError` if Slack
    does not say.
    """

    cases: Cases
    memberships: Memberships
    members: Members

    async def known(self, invocation: Invocation, case_id: int | None) -> LoggedCase:
        """The case of a button or window: the person's own, or one that they can see in a channel's
        thread.
        """
        case = await self.cases.find(invocation.team_id, case_id) if case_id is not None else None
        if case and case.requester_id == invocation.user_id:
            return case
        if case and not case.is_for_one and await self._sees(invocation, case.channel_id):
            return case
        raise NoCaseError(
            f"no case {case_id!r} for {invocation.user_id!r} in team {invocation.team_id!r}"
        )

    async def readable(self, invocation: Invocation, case_id: int | None) -> LoggedCase:
        """The case of a button or window that leads to its texts, or to its message as it is now.

        A requester who has left the channel of the case may not read these any more.
        """
        case = await self.known(invocation, case_id)
        user_id = invocation.user_id
        is_own_elsewhere = case.requester_id == user_id and case.channel_id != invocation.channel_id
        if is_own_elsewhere and await self.memberships.keeps_out(user_id, case.channel_id):
            raise NoCaseError(f"case {case_id!r} is in a channel that {user_id!r} has left")
        return case

    async def repeatable(self, invocation: Invocation, case_id: int | None) -> LoggedCase:
        """The same, for a button that has it scored again.

        Raises `RefusedError` if words of it were forgotten, unless this person wrote some of it:
        they may ask for a score of their own words.
        """
        case = await self.readable(invocation, case_id)
        authors = {case.author_id, case.question_author_id} if case.message_ts else set()
        if case.forgotten_at and invocation.user_id not in authors:
            raise RefusedError(FORGOTTEN)
        return case

    async def verdict(self, case: LoggedCase) -> CaseVerdict:
        found = await self.cases.verdict(case.id)
        if found is None:
            raise NoCaseError(f"case {case.id} has no verdict")
        return found

    async def has_left_window(self, invocation: Invocation) -> bool:
        """Whether the person may no longer see the channel in which they opened a window."""
        channel_id = invocation.window_channel_id
        return channel_id is None or await self.memberships.keeps_out(
            invocation.user_id, channel_id
        )

    async def _sees(self, invocation: Invocation, channel_id: str) -> bool:
        """Whether the person can see the channel; asks Slack, unless this click came from that
        channel.
        """
        if channel_id == invocation.channel_id:
            return True
        if channel_id == invocation.window_channel_id:
            return not await self.has_left_window(invocation)
        return await self.memberships.includes(invocation.user_id, channel_id)

    async def listed(
        self, cases: Sequence[LoggedCase], user_id: str, here: str = ""
    ) -> Sequence[ListedCase]:
        """These cases of a person, as shown in the channel `here`; empty if they are not shown in a
        channel.

        A requester has seen the texts, but may have left the channel since. So a text is shown only
        if its case is in the channel where the person is, in direct messages, or in a channel of
        which Slack now lists them as a member. In case of doubt, it is hidden.
        """
        authors = {case.author_id for case in cases if case.author_id}
        members = self.members.of_all(sorted(authors))
        readable, found = await asyncio.gather(self._readable(cases, user_id, here), members)
        # The name of an author whom Slack does not know is their id, which tells people nothing.
        names = {each: member.name for each, member in found.items() if member.name != each}
        return [
            _listed(case, names.get(case.author_id or "", ""), case.channel_id in readable)
            for case in cases
        ]

    async def _readable(
        self, cases: Sequence[LoggedCase], user_id: str, here: str
    ) -> Collection[str]:
        channels = {case.channel_id for case in cases if case.response and not case.loses_words}
        open_to_them = {each for each in channels if each in {here, ""} or each.startswith("D")}
        if channels == open_to_them:
            return channels
        try:
            return {*open_to_them, *await self.memberships.now(user_id)}
        except MembershipError:
            return open_to_them


def _listed(case: LoggedCase, author: str, is_readable: bool) -> ListedCase:
    if case.forgotten_at:
        author = ""
    missing = _missing(case)
    if not missing and not is_readable:
        missing = "text shown only in its channel"
    if missing:
        return ListedCase(case, author, missing=missing)
    scale = Scale(case.lowest or 0, case.highest or 0)
    is_low = case.score is not None and case.score <= low_to(scale)
    text = (case.response or "")[:_BEGINNING]
    return ListedCase(case, author, text, reason=case.justification or "" if is_low else "")


def _missing(case: LoggedCase) -> str:
    if case.has_lost_texts or case.loses_words:
        return f"text {case.why_lost}"
    if case.response:
        return ""
    return "not read yet" if case.status == CaseStatus.RECEIVED else "no text"


def recent_blocks(
    shown: Sequence[ListedCase], workspace_url: str, *, says_how_to_drop: bool = True
) -> list[Block]:
    """The list: for each case, a line, how to delete it if it waits for a question, how the reply
    begins, and the judge's reason for a low score, with buttons that ask whether it is fair.
    """
    blocks: list[Block] = []
    for listed in shown:
        case = listed.case
        words = one_line(listed.text, _WORDS)
        line = _line(listed, workspace_url, has_words=bool(words))
        if says_how_to_drop and case.status == CaseStatus.ASKED:
            line += f" · `/judge forget {case.id}` deletes it"
        blocks.append(section(line))
        if words:
            blocks += [quote(words, len(words))]
        reason = one_line(listed.reason, _REASON) if says_how_to_drop else ""
        if reason:
            blocks.append(quote(reason, len(reason), run("The judge's reason:")))
            blocks.append(fairness(case.id, f"score {case.score} of {listed.author}"))
    return blocks


def _line(listed: ListedCase, workspace_url: str, *, has_words: bool) -> str:
    case = listed.case
    who = "typed" if case.message_ts is None else clip(listed.author)
    where = f"{who} in {_where(case.channel_id)}" if who else _where(case.channel_id)
    ts = case.reply_ts or case.message_ts or case.thread_ts
    state = _state(case)
    if ts is not None:
        thread_ts = case.thread_ts or case.parent_ts
        state = f"<{permalink(workspace_url, case.channel_id, ts, thread_ts)}|{state}>"
    parts = [state, where, short_date(case.created_at), f"case {case.id}"]
    if case.is_private or case.blocked_by is not None:
        parts.append("only you")
    if not has_words:
        parts.append(listed.missing or "no text")
    return " · ".join(parts)


def _state(case: LoggedCase) -> str:
    if case.score is not None:
        return f"Score {case.score} of {case.highest}"
    if case.unscored_reason is not None:
        return f"Unscored: {in_short(case.unscored_reason)}"
    return "Waiting for your question" if case.status == CaseStatus.ASKED else "Being scored"


def _where(channel_id: str) -> str:
    # Slack shows the name of a private channel only to its members.
    return "direct messages" if channel_id.startswith("D") else f"<#{channel_id}>"
