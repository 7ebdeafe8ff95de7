"""Takes cases in, and tells people about a case that exists already.

A case is stored, together with the job that settles it, before it is acknowledged.
"""

import asyncio
from dataclasses import dataclass

from bot.domain.blocker import A_PERSONS, CHANNEL_OFF, FOREIGN, RefusedError
from bot.domain.case import Case, CaseStatus, Exclusion, LoggedCase, Visibility, exclusion_of, text_hash
from bot.domain.clock import utc_now
from bot.domain.limits import Limits, Policy
from bot.pipeline import text as messages
from bot.pipeline.judges import RubricChoice
from bot.pipeline.lookup import Lookup, MayNotReadError, OutOfSightError
from bot.pipeline.requests import Choice
from bot.pipeline.verdict_text import known_verdict
from bot.slack.client import SLACK_ERRORS
from bot.slack.invocation import Invocation
from bot.slack.members import Members, Memberships
from bot.slack.messenger import Messenger
from bot.store import Store
from bot.store.cases import Cases
from bot.store.channels import People
from bot.store.store import Also

_LOOK_S = 1.5  # Slack waits 3 s for the acknowledgement


@dataclass(frozen=True)
class Intake:
    """Takes cases in; raises `RefusedError` if this person cannot have one now.

    `also` is called in the transaction that stores a new case.
    """

    store: Store
    limits: Limits
    policy: Policy
    members: Members
    messenger: Messenger
    lookup: Lookup
    workspace_url: str
    also: Also | None = None

    async def take(self, case: Case, invocation: Invocation) -> tuple[LoggedCase, bool]:
        """The stored case for this request, and whether it is new.

        A reply that was scored before keeps its case, unless it has changed since: any of its messages may be chosen.
        """
        if case.message_ts:
            message = case.team_id, case.channel_id, case.message_ts
            latest = await self.store.cases.latest(*message, case.requester_id)
            known, is_edited = (latest[0], _is_edited(latest[1], case)) if latest else (None, False)
            if known and known.judged_at and not is_edited and await self._has_gone_on(known):
                known, is_edited = known.model_copy(update={"edited_at": utc_now()}), True
            if known and not is_edited:
                if known.status is CaseStatus.ASKED:
                    await self._check(known, invocation)
                return known, False
            if known:
                excluded = case.excluded  # an automation's is counted apart
                if not case.is_automated:
                    excluded = await self.excluded(invocation, known, has_chosen=False)
                case = case.model_copy(update=_next_attempt(case, known) | {"excluded": excluded})
        return await self.add(case, invocation)

    async def add(self, case: Case, invocation: Invocation) -> tuple[LoggedCase, bool]:
        """The stored case, and whether it is new.

        If another person has the same attempt, but its case is of no use to this person, they get the next attempt: if
        Slack did not let us post its verdict, it waits for its question, or it is excluded.
        """
        await self._check(case, invocation)
        while True:
            known, is_new = await self.store.add(case, invocation.trigger_id, self.limits, self.also)
            is_of_no_use = known.is_for_one or (known.excluded and not case.excluded)
            if is_new or known.requester_id == case.requester_id or not is_of_no_use:
                return known, is_new
            case = case.model_copy(update=_next_attempt(case, known))

    async def check_here(self, invocation: Invocation, message_ts: str | None = None) -> None:
        """Raises `RefusedError` if this person can have no new case here; checked before Slack is asked.

        If `message_ts` is given, it may have a case already, which takes nothing from the limits.
        """
        if invocation.is_foreign:
            raise RefusedError(FOREIGN)
        if not self.policy.allows_messages_of(invocation.channel_id):
            raise RefusedError(CHANNEL_OFF)
        team_id, user_id = invocation.team_id, invocation.user_id
        refusal = await self.store.refusal(team_id, user_id, self.limits)
        if refusal and not (
            message_ts and await self.store.cases.latest(team_id, invocation.channel_id, message_ts, user_id)
        ):
            raise RefusedError(refusal)

    async def _check(self, case: Case, invocation: Invocation) -> None:
        if invocation.is_foreign:
            raise RefusedError(FOREIGN)
        if not self.policy.allows_channel(case):
            raise RefusedError(CHANNEL_OFF)
        # Checked before the texts are logged; the author of a linked message is only known once it is read.
        is_nobodys = case.message_ts is None or (case.author_id is None and case.response is None)
        if not (self.policy.scores_people or is_nobodys) and not await self.members.is_known_bot(case.author_id or ""):
            raise RefusedError(A_PERSONS)

    async def _has_gone_on(self, known: LoggedCase) -> bool:
        """Whether a scored reply in a thread has other words by now; if so, its case is marked, as after an edit.

        Without message events, the app does not hear of it. Where the thread cannot be read, nothing has changed.
        """
        is_in_thread = known.parent_ts is not None or known.messages > 1
        if known.message_ts is None or known.response_hash is None or not is_in_thread:
            return False
        try:
            async with asyncio.timeout(_LOOK_S):
                found = await self.lookup.answered(known.channel_id, known.message_ts, known.parent_ts)
        except (OutOfSightError, MayNotReadError, *SLACK_ERRORS):
            return False
        if found is None or text_hash(found.response) == known.response_hash:
            return False
        await self.store.edits.note_added(known)
        return True

    async def proceed(self, case: LoggedCase, is_new: bool, invocation: Invocation) -> None:
        """Leaves a new case to its job; shows the person the state of a known one."""
        if is_new:
            return
        if case.status is CaseStatus.ASKED:
            # The question is searched for again, because the app may have been invited meanwhile.
            await self.store.reopen(case, invocation.response_url, invocation.trigger_id)
            return
        verdict = await self.store.cases.verdict(case.id)
        if verdict:
            await self.store.assignments.note_told(case.team_id, [case.id], invocation.user_id)
        post = known_verdict(case, verdict, self.workspace_url) if verdict else messages.in_progress(case)
        await self.messenger.tell(invocation.recipient_at(case), post)

    async def excluded(self, invocation: Invocation, earlier: LoggedCase, *, has_chosen: bool) -> Exclusion | None:
        """Why a repeated verdict for this person is not counted; None if it replaces the earlier one."""
        current_verdict = await self.store.cases.current_verdict(earlier)
        return exclusion_of(invocation.user_id, earlier, current_verdict, has_chosen=has_chosen)

    async def answer(self, case: LoggedCase, question: str, invocation: Invocation) -> None:
        """Stores the question that the requester typed, and continues the case."""
        await self._check(case, invocation)
        await self.store.answer(case, question, self.limits)


def _is_edited(known_hash: str | None, case: Case) -> bool:
    return case.response is not None and known_hash not in {None, text_hash(case.response)}


def _next_attempt(case: Case, known: LoggedCase) -> dict[str, object]:
    attempt = known.attempt + 1
    return {"attempt": attempt, "key": f"{case.key.rpartition(':')[0]}:{attempt}"}


@dataclass(frozen=True)
class Choices:
    """The rubric and visibility of new cases: the choices of people and channels, or else the app's settings."""

    people: People
    rubrics: RubricChoice
    visibility: Visibility

    async def of(self, invocation: Invocation, channel_id: str | None = None) -> Choice:
        """The defaults for this person's request, in the channel of `channel_id` (a link's) or of the invocation."""
        channel_id = channel_id or invocation.channel_id
        own, rubric = await self.people.chosen(invocation.team_id, invocation.user_id, channel_id)
        return Choice(rubric or self.rubrics.default, own or self.visibility)

    async def again(self, invocation: Invocation, earlier: LoggedCase) -> Choice:
        """The same for a case that repeats an earlier one; it is never more public than that one."""
        own, rubric = await self.people.chosen(invocation.team_id, invocation.user_id, earlier.channel_id)
        is_for_one = Visibility.ME in {own, earlier.visibility}
        return Choice(rubric or self.rubrics.default, Visibility.ME if is_for_one else Visibility.THREAD)


class NoCaseError(LookupError):
    """A button or window names a case that is not in the store (any more), or that this person may not see."""


@dataclass(frozen=True)
class CaseAccess:
    """Gives people the cases that they may see.

    Raises `NoCaseError` if there is no case with this number that they may see, and `MembershipError` if Slack does not
    say whether they may.
    """

    cases: Cases
    memberships: Memberships

    async def known(self, invocation: Invocation, case_id: int | None) -> LoggedCase:
        """The case of a button or window: the person's own, or one that they can see in a channel's thread."""
        case = await self.cases.find(invocation.team_id, case_id) if case_id is not None else None
        if case and case.requester_id == invocation.user_id:
            return case
        if case and not case.is_for_one and await self._sees(invocation, case.channel_id):
            return case
        raise NoCaseError(f"no case {case_id!r} for {invocation.user_id!r} in team {invocation.team_id!r}")

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

    async def has_left_window(self, invocation: Invocation) -> bool:
        """Whether the person may no longer see the channel in which they opened a window."""
        channel_id = invocation.window_channel_id
        return channel_id is None or await self.memberships.keeps_out(invocation.user_id, channel_id)

    async def _sees(self, invocation: Invocation, channel_id: str) -> bool:
        """Whether the person can see the channel; asks Slack, unless this click came from that channel."""
        if channel_id == invocation.channel_id:
            return True
        if channel_id == invocation.window_channel_id:
            return not await self.has_left_window(invocation)
        return await self.memberships.includes(invocation.user_id, channel_id)
