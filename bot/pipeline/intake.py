"""How a request becomes a case: made of what was asked for, checked, and stored, unless there is
one already.

A case is stored, together with the job that settles it, before the request is acknowledged.
"""

import asyncio
from dataclasses import dataclass, replace

from bot.domain import blocker
from bot.domain.attempt import is_of_use, message_key, next_attempt
from bot.domain.case import (
    Case,
    CaseSource,
    CaseStatus,
    CaseTurn,
    Exclusion,
    LoggedCase,
    Part,
    QuestionSource,
    Visibility,
    text_hash,
)
from bot.domain.limits import Limits, Policy
from bot.pipeline import text as messages
from bot.pipeline.judges import RubricChoice
from bot.pipeline.lookup import UNREADABLE, Lookup
from bot.pipeline.verdict_text import known_verdict
from bot.slack.invocation import Invocation, Submission
from bot.slack.messages import Message, Permalink
from bot.slack.messenger import Messenger, Post
from bot.store import Store

_LOOK_S = 1.5  # Slack waits 3 s for the acknowledgement


@dataclass(frozen=True)
class Intake:
    """Makes cases of requests, and takes them in; raises `RefusedError` if this person cannot have
    one now.

    `visibility` is that of the app's settings.
    """

    store: Store
    limits: Limits
    policy: Policy
    rubrics: RubricChoice
    visibility: Visibility
    messenger: Messenger
    lookup: Lookup
    workspace_url: str

    async def of_message(
        self, invocation: Invocation, message: Message, source: CaseSource = CaseSource.SHORTCUT
    ) -> Case:
        """The case for a message at hand, which is the response; its question is found later."""
        channel_id = invocation.channel_id
        marks = await self.lookup.marks_of(message.author_id)
        rubric, chosen = await self.chosen(invocation, channel_id)
        visibility = marks.visibility or chosen
        return Case(
            key=message_key(channel_id, message.ts, visibility, invocation.user_id, attempt=1),
            team_id=invocation.team_id,
            channel_id=channel_id,
            requester_id=invocation.user_id,
            requester_name=invocation.user_name,
            response_url=invocation.response_url,
            source=source,
            rubric=rubric,
            visibility=visibility,
            excluded=marks.excluded,
            message_ts=message.ts,
            parent_ts=message.parent_ts,
            author_id=message.author_id,
            response=message.text,
            blocker=message.blocker,
        )

    async def of_link(
        self, invocation: Invocation, link: Permalink, blocker: str | None = None
    ) -> Case:
        """The case for a link to a message, which is read later."""
        channel_id = link.channel_id
        rubric, visibility = await self.chosen(invocation, channel_id)
        user_id = invocation.user_id
        return Case(
            key=message_key(channel_id, link.message_ts, visibility, user_id, attempt=1),
            team_id=invocation.team_id,
            channel_id=channel_id,
            requester_id=user_id,
            requester_name=invocation.user_name,
            response_url=invocation.response_url,
            source=CaseSource.LINK,
            rubric=rubric,
            visibility=visibility,
            message_ts=link.message_ts,
            parent_ts=link.parent_ts,
            blocker=blocker,
        )

    async def of_texts(self, invocation: Invocation, question: str, response: str) -> Case:
        """The case for two texts typed after `/judge`."""
        rubric, visibility = await self.chosen(invocation, invocation.channel_id)
        return Case(
            key=f"command:{invocation.trigger_id}",
            team_id=invocation.team_id,
            channel_id=invocation.channel_id,
            requester_id=invocation.user_id,
            requester_name=invocation.user_name,
            response_url=invocation.response_url,
            source=CaseSource.TEXT,
            rubric=rubric,
            visibility=visibility,
            question=question,
            question_source=QuestionSource.TYPED,
            question_author_id=invocation.user_id,
            response=response,
        )

    def of_window(self, invocation: Invocation, submission: Submission) -> Case:
        """The case for the window of `/judge`; one that is submitted twice is the same case."""
        return Case(
            key=f"view:{submission.view_id}",
            team_id=invocation.team_id,
            channel_id=invocation.window_channel_id or "",
            requester_id=invocation.user_id,
            requester_name=invocation.user_name,
            response_url=invocation.response_url,
            source=CaseSource.MODAL,
            rubric=submission.rubric or self.rubrics.default,
            # In direct messages and the Home tab, the window does not ask who sees the verdict:
            # only this person can.
            visibility=submission.visibility or Visibility.THREAD,
            question=submission.question,
            question_source=QuestionSource.TYPED,
            question_author_id=invocation.user_id,
            response=submission.response,
        )

    async def again(self, invocation: Invocation, earlier: LoggedCase) -> Case:
        """The case for "Score again": two people who click it on the same public case get one
        verdict.
        """
        rubric, visibility = await self.chosen(invocation, earlier.channel_id, earlier)
        target = earlier.message_ts or f"case-{earlier.id}"
        attempt = earlier.attempt + 1
        earlier = await self.store.cases.with_turns(earlier)
        return _repeated(
            invocation,
            earlier,
            key=message_key(earlier.channel_id, target, visibility, invocation.user_id, attempt),
            rubric=rubric,
            visibility=visibility,
            excluded=await self.store.cases.exclusion_of(invocation.user_id, earlier),
            question=_kept_question(earlier),
            turns=earlier.turns,
            messages_before=earlier.messages_before,
            left_out=earlier.left_out,
        )

    async def corrected(
        self, invocation: Invocation, earlier: LoggedCase, submission: Submission
    ) -> Case:
        """The case for "Wrong question?": the same response with the question that the person
        typed, or else chose.
        """
        _, visibility = await self.chosen(invocation, earlier.channel_id, earlier)
        excluded = await self.store.cases.exclusion_of(invocation.user_id, earlier, has_chosen=True)
        if submission.question:
            question = _Question(
                text=submission.question,
                source=QuestionSource.TYPED,
                author_id=invocation.user_id,
            )
        else:
            # The chosen message is read again, with those before it.
            question = _Question(source=QuestionSource.CHOSEN, ts=submission.chosen)
        earlier = await self.store.cases.with_turns(earlier)
        return _repeated(
            invocation,
            earlier,
            key=f"view:{submission.view_id}",
            rubric=earlier.rubric,
            visibility=visibility,
            excluded=excluded,
            question=question,
            # What was said before another question is unknown.
            turns=tuple(turn for turn in earlier.turns if turn.part is Part.RESPONSE),
            messages_before=0,
            left_out=0,
        )

    async def chosen(
        self, invocation: Invocation, channel_id: str, earlier: LoggedCase | None = None
    ) -> tuple[str, Visibility]:
        """The rubric and visibility of a new case: the choices of its channel and person, or the
        app's settings.

        If it repeats an earlier case, it is never more public than that one.
        """
        own = await self.store.channels.visibility(invocation.team_id, invocation.user_id)
        visibility = own or self.visibility
        if earlier:
            is_for_one = Visibility.ME in {own, earlier.visibility}
            visibility = Visibility.ME if is_for_one else Visibility.THREAD
        return await self.rubrics.used(invocation.team_id, channel_id), visibility

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
        """Whether a reply has other words than a known case has read; or more of them, if it is in
        a thread and Slack says so in time.
        """
        if case.response is not None and hash_as_read not in {None, text_hash(case.response)}:
            return True
        is_one_message = known.parent_ts is None and known.messages == 1
        if is_one_message or known.judged_at is None:
            return False
        try:
            async with asyncio.timeout(_LOOK_S):
                return await self.has_gone_on(known)
        except UNREADABLE:
            return False

    async def has_gone_on(self, known: LoggedCase) -> bool:
        """Whether a scored reply has more messages or other words by now; if so, its case is
        marked, as after an edit.

        Raises one of `UNREADABLE` if Slack does not say.
        """
        if known.message_ts is None or known.response_hash is None:
            return False
        exchange = await self.lookup.answered(known.channel_id, known.message_ts, known.parent_ts)
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
        await self.store.answer(case, question, self.limits)


async def known_post(store: Store, known: LoggedCase, user_id: str, workspace_url: str) -> Post:
    """What a person is told who asks for a reply that has a case already."""
    if verdict := await store.cases.verdict(known.id):
        await store.assignments.note_told(known.team_id, [known.id], user_id)
        return known_verdict(known, verdict, workspace_url)
    return messages.in_progress(known)


@dataclass(frozen=True)
class _Question:
    """The question of a case that repeats an earlier one, as far as it is not read again."""

    text: str | None = None
    source: QuestionSource | None = None
    ts: str | None = None
    author_id: str | None = None


def _kept_question(earlier: LoggedCase) -> _Question:
    """The question of an earlier case, for one that asks the same."""
    question = _Question(
        text=earlier.question,
        source=earlier.question_source,
        ts=earlier.question_ts,
        author_id=earlier.question_author_id,
    )
    if earlier.question_source is QuestionSource.CHOSEN:
        return replace(question, text=None)
    if earlier.question_ts is None:
        return question
    if earlier.edited_at:
        return _Question()
    # The thread is read again, because the reply may go on by now; what is known is for when it
    # cannot be read.
    return replace(question, source=None)


def _repeated(
    invocation: Invocation,
    earlier: LoggedCase,
    *,
    key: str,
    rubric: str,
    visibility: Visibility,
    excluded: Exclusion | None,
    question: _Question,
    turns: tuple[CaseTurn, ...],
    messages_before: int,
    left_out: int,
) -> Case:
    """A case on the response of an earlier one.

    A person asks for it, even if a watch drew the earlier one; so it has no probability, and
    nothing says what the channel sees of it.
    """
    parent_ts = earlier.parent_ts
    response = earlier.response
    if earlier.message_ts is None:
        parent_ts = earlier.thread_ts
    elif earlier.blocker or earlier.edited_at:
        # Read again, because the message may have a text by now, or a new one.
        response = None
    return Case(
        key=key,
        team_id=invocation.team_id,
        channel_id=earlier.channel_id,
        requester_id=invocation.user_id,
        requester_name=invocation.user_name,
        response_url=invocation.response_url,
        source=CaseSource.BUTTON,
        rubric=rubric,
        visibility=visibility,
        attempt=earlier.attempt + 1,
        excluded=excluded,
        message_ts=earlier.message_ts,
        parent_ts=parent_ts,
        author_id=earlier.author_id,
        question=question.text,
        question_source=question.source,
        question_ts=question.ts,
        question_author_id=question.author_id,
        response=response,
        turns=turns,
        messages_before=messages_before,
        left_out=left_out,
        messages=earlier.messages,
        unread=earlier.unread,
    )
