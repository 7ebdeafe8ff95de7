"""How the case of a request is taken in: checked, and stored, unless there is one already.

A case is stored, together with the job that settles it, before the request is acknowledged.
"""

import asyncio
from dataclasses import dataclass

from bot.domain import blocker
from bot.domain.attempt import is_of_use, next_attempt
from bot.domain.case import (
    Case,
    CaseStatus,
    LoggedCase,
    text_hash,
)
from bot.domain.limits import Limits, Policy
from bot.pipeline import text as words
from bot.pipeline.lookup import UNREADABLE, Lookup
from bot.pipeline.verdict_text import known_verdict
from bot.slack.invocation import Invocation
from bot.slack.messenger import Messenger, Post
from bot.store import Store

_LOOK_S = 1.5  # Slack waits 3 s for the acknowledgement


@dataclass(frozen=True)
class Intake:
    """Takes cases in; raises `RefusedError` if this person cannot have one now."""

    store: Store
    limits: Limits
    policy: Policy
    messenger: Messenger
    lookup: Lookup
    workspace_url: str

    async def take(self, case: Case, invocation: Invocation) -> tuple[LoggedCase, bool]:
        """The stored case for this request, and whether it is new.

        A reply that was scored before keeps its case, unless it has changed since: any of its
        messages may be chosen.
        """
        if case.message_ts is None:
            return await self.add(case, invocation)
        latest = await self.store.cases.latest(
            case.team_id, case.channel_id, case.message_ts, case.requester_id
        )
        if latest is None:
            return await self.add(case, invocation)
        known, hash_as_read = latest
        if await self._has_changed(case, known, hash_as_read):
            case = await self.store.cases.attempt_after(known, case, is_changed=True)
            return await self.add(case, invocation)
        if known.status is CaseStatus.ASKED:
            await self._check(known, invocation)
        return known, False

    async def add(self, case: Case, invocation: Invocation) -> tuple[LoggedCase, bool]:
        """The stored case, and whether it is new.

        If another person has the same attempt, but it is of no use to this person, they get the
        next one.
        """
        await self._check(case, invocation)
        while True:
            known, is_new = await self.store.add(case, invocation.trigger_id, self.limits)
            if is_new or is_of_use(known, case):
                return known, is_new
            case = next_attempt(case, known)

    async def check_here(self, invocation: Invocation, message_ts: str | None = None) -> None:
        """Raises `RefusedError` if this person can have no new case here; checked before Slack is
        asked.

        If `message_ts` is given, it may have a case already, which takes nothing from the limits.
        """
        channel_id = invocation.channel_id
        self._check_place(invocation, channel_id)
        team_id = invocation.team_id
        user_id = invocation.user_id
        refusal = await self.store.refusal(team_id, user_id, self.limits)
        if not refusal:
            return
        if message_ts and await self.store.cases.latest(team_id, channel_id, message_ts, user_id):
            return
        raise blocker.RefusedError(refusal)

    def _check_place(
        self, invocation: Invocation, channel_id: str, *, has_message: bool = True
    ) -> None:
        if invocation.is_foreign:
            raise blocker.RefusedError(blocker.FOREIGN)
        if not self.policy.may_score(channel_id, has_message=has_message):
            raise blocker.RefusedError(blocker.CHANNEL_OFF)

    async def _check(self, case: Case, invocation: Invocation) -> None:
        has_message = case.message_ts is not None
        self._check_place(invocation, case.channel_id, has_message=has_message)
        # The author of a linked message is only known once it is read.
        is_read = case.author_id is not None or case.response is not None
        if not (has_message and is_read):
            return
        # Checked before the texts are stored.
        reason = await self.lookup.blocker_of(case.author_id)
        if reason in {blocker.A_PERSONS, blocker.ANOTHERS}:
            raise blocker.RefusedError(reason)

    async def _has_changed(self, case: Case, known: LoggedCase, hash_as_read: str | None) -> bool:
        """Whether a reply has other words than a known case has read, or more, if it is in a thread
        and Slack says so in time; the known case is then marked, as after an edit.
        """
        is_other = known.deleted_at or hash_as_read not in {None, text_hash(case.response or "")}
        if case.response is not None and is_other:
            return True
        is_one_message = known.parent_ts is None and known.messages == 1
        if is_one_message or known.judged_at is None or known.response_hash is None:
            return False
        place = known.channel_id, known.message_ts or "", known.parent_ts
        try:
            async with asyncio.timeout(_LOOK_S):
                exchange = await self.lookup.answered(*place)
        except UNREADABLE:
            return False
        if exchange is None:
            return False
        has_more = len(exchange.reply) > known.messages
        if not has_more and text_hash(exchange.response) == known.response_hash:
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
        post = await known_post(self.store, case, invocation.user_id, self.workspace_url)
        await self.messenger.tell(invocation.recipient_at(case), post)

    async def answer(self, case: LoggedCase, question: str, invocation: Invocation) -> None:
        await self._check(case, invocation)
        await self.store.answer(case, question)


async def known_post(store: Store, known: LoggedCase, user_id: str, workspace_url: str) -> Post:
    """What a person is told who asks for a reply that has a case already."""
    if verdict := await store.cases.verdict(known.id):
        await store.assignments.note_told(known.team_id, [known.id], user_id)
        return known_verdict(known, verdict, workspace_url)
    return words.IN_PROGRESS
