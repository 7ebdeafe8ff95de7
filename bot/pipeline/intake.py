"""How a request becomes a case: made of what was asked for, checked, and stored, unless there is
one already.

A case is stored, together with the job that settles it, before the request is acknowledged.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

from bot.domain import blocker
from bot.domain.case import (
    Case,
    CaseSource,
    CaseStatus,
    LoggedCase,
    Part,
    QuestionSource,
    Visibility,
    text_hash,
)
from bot.domain.clock import utc_now
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
        marks = await self.lookup.marks_of(message.author_id)
        asked = await self._asked_of(
            invocation, invocation.channel_id, message.ts, marks.get("visibility")
        )
        its = {"source": source, "parent_ts": message.parent_ts, "author_id": message.author_id}
        return Case(**asked | its | marks, response=message.text, blocker=message.blocker)

    async def of_link(
        self, invocation: Invocation, link: Permalink, blocker: str | None = None
    ) -> Case:
        """The case for a link to a message, which is read later."""
        asked = await self._asked_of(invocation, link.channel_id, link.message_ts)
        return Case(**asked, source=CaseSource.LINK, parent_ts=link.parent_ts, blocker=blocker)

    async def of_texts(self, invocation: Invocation, question: str, response: str) -> Case:
        asked = _asked_by(
            invocation, invocation.channel_id, *await self.chosen(invocation, invocation.channel_id)
        )
        its = {"key": f"command:{invocation.trigger_id}", "source": CaseSource.TEXT}
        return Case(**asked | its | _typed(invocation, question), response=response)

    def of_window(self, invocation: Invocation, submission: Submission) -> Case:
        """The case for the window of `/judge`; one that is submitted twice is the same case."""
        # In direct messages and the Home tab, the window does not ask who sees the verdict: only
        # this person can.
        chosen = (
            submission.rubric or self.rubrics.default,
            submission.visibility or Visibility.THREAD,
        )
        asked = _asked_by(invocation, invocation.window_channel_id or "", *chosen)
        its = {"key": f"view:{submission.view_id}", "source": CaseSource.MODAL}
        return Case(
            **asked | its | _typed(invocation, submission.question), response=submission.response
        )

    async def again(self, invocation: Invocation, earlier: LoggedCase) -> Case:
        """The case for "Score again": two people who click it on the same public case get one
        verdict.
        """
        rubric, visibility = await self.chosen(invocation, earlier.channel_id, earlier)
        target = earlier.message_ts or f"case-{earlier.id}"
        key = message_key(
            earlier.channel_id, target, visibility, invocation.user_id, earlier.attempt + 1
        )
        its = {"key": key, "rubric": rubric, "visibility": visibility}
        return await self._repeat(invocation, earlier, its, has_chosen=False)

    async def corrected(
        self, invocation: Invocation, earlier: LoggedCase, submission: Submission
    ) -> Case:
        """The case for "Wrong question?": the same response with the question that the person
        typed, or else chose.
        """
        _, visibility = await self.chosen(invocation, earlier.channel_id, earlier)
        its: dict[str, Any] = {"key": f"view:{submission.view_id}", "visibility": visibility}
        if submission.question:
            its |= _typed(invocation, submission.question) | {"question_ts": None}
        else:  # the chosen message is read again, with those before it
            its |= {
                "question": None,
                "question_source": QuestionSource.CHOSEN,
                "question_ts": submission.chosen,
            }
            its["question_author_id"] = None
        return await self._repeat(invocation, earlier, its, has_chosen=True)

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

    async def _asked_of(
        self,
        invocation: Invocation,
        channel_id: str,
        message_ts: str,
        visibility: Visibility | None = None,
    ) -> dict[str, Any]:
        rubric, chosen = await self.chosen(invocation, channel_id)
        key = message_key(
            channel_id, message_ts, visibility or chosen, invocation.user_id, attempt=1
        )
        asked = _asked_by(invocation, channel_id, rubric, visibility or chosen)
        return asked | {"key": key, "message_ts": message_ts}

    async def _repeat(
        self,
        invocation: Invocation,
        earlier: LoggedCase,
        changes: dict[str, Any],
        *,
        has_chosen: bool,
    ) -> Case:
        excluded = await self.store.cases.exclusion_of(
            invocation.user_id, earlier, has_chosen=has_chosen
        )
        earlier = await self.store.cases.with_turns(earlier)
        kept = earlier.model_dump(include=set(Case.model_fields))
        kept |= _asked_by(invocation, earlier.channel_id, earlier.rubric, earlier.visibility) | {
            "source": CaseSource.BUTTON,
            "attempt": earlier.attempt + 1,
            "excluded": excluded,
            # a person asked for this one, even if a watch drew the earlier one
            "probability": None,
            "shows": None,
            "blocker": None,
        }
        if earlier.message_ts is None:
            kept["parent_ts"] = earlier.thread_ts
        elif earlier.blocker or earlier.edited_at:
            kept["response"] = (
                None  # read again, because the message may have a text by now, or a new one
            )
        if earlier.question_source is QuestionSource.CHOSEN:
            kept["question"] = None
        elif earlier.question_ts:
            # The thread is read again, because the reply may go on by now; what is known is for
            # when it cannot be read.
            kept["question_source"] = None
            if earlier.edited_at:
                kept |= {"question": None, "question_ts": None, "question_author_id": None}
        if has_chosen:
            turns = tuple(turn for turn in earlier.turns if turn.part is Part.RESPONSE)
            kept |= {"turns": turns, "messages_before": 0, "left_out": 0}
        return Case(**kept | changes)

    async def take(self, case: Case, invocation: Invocation) -> tuple[LoggedCase, bool]:
        """The stored case for this request, and whether it is new.

        A reply that was scored before keeps its case, unless it has changed since: any of its
        messages may be chosen.
        """
        if case.message_ts:
            message = case.team_id, case.channel_id, case.message_ts
            latest = await self.store.cases.latest(*message, case.requester_id)
            known, read_hash = latest or (None, None)
            is_edited = case.response is not None and read_hash not in {
                None,
                text_hash(case.response),
            }
            if known and known.judged_at and not is_edited and await self._is_seen_to_go_on(known):
                known, is_edited = known.model_copy(update={"edited_at": utc_now()}), True
            if known and not is_edited:
                if known.status is CaseStatus.ASKED:
                    await self._check(known, invocation)
                return known, False
            if known:
                excluded = await self.store.cases.exclusion_of(invocation.user_id, known)
                case = case.model_copy(update=_next_attempt(case, known) | {"excluded": excluded})
        return await self.add(case, invocation)

    async def add(self, case: Case, invocation: Invocation) -> tuple[LoggedCase, bool]:
        """The stored case, and whether it is new.

        If another person has the same attempt, but its case is of no use to this person, they get
        the next attempt: if Slack did not let us post its verdict, it waits for its question, or it
        is excluded.
        """
        await self._check(case, invocation)
        while True:
            known, is_new = await self.store.add(case, invocation.trigger_id, self.limits)
            is_of_no_use = known.is_for_one or (known.excluded and not case.excluded)
            if is_new or known.requester_id == case.requester_id or not is_of_no_use:
                return known, is_new
            case = case.model_copy(update=_next_attempt(case, known))

    async def check_here(self, invocation: Invocation, message_ts: str | None = None) -> None:
        """Raises `RefusedError` if this person can have no new case here; checked before Slack is
        asked.

        If `message_ts` is given, it may have a case already, which takes nothing from the limits.
        """
        self._check_place(invocation, invocation.channel_id)
        team_id, user_id = invocation.team_id, invocation.user_id
        refusal = await self.store.refusal(team_id, user_id, self.limits)
        if refusal and not (
            message_ts
            and await self.store.cases.latest(team_id, invocation.channel_id, message_ts, user_id)
        ):
            raise blocker.RefusedError(refusal)

    def _check_place(
        self, invocation: Invocation, channel_id: str, *, has_message: bool = True
    ) -> None:
        if invocation.is_foreign:
            raise blocker.RefusedError(blocker.FOREIGN)
        if not self.policy.may_score(channel_id, has_message=has_message):
            raise blocker.RefusedError(blocker.CHANNEL_OFF)

    async def _check(self, case: Case, invocation: Invocation) -> None:
        self._check_place(invocation, case.channel_id, has_message=case.message_ts is not None)
        # Checked before the texts are stored; the author of a linked message is only known once it
        # is read.
        has_author = case.message_ts is not None and (
            case.author_id is not None or case.response is not None
        )
        why = await self.lookup.blocker_of(case.author_id) if has_author else None
        if why in {blocker.A_PERSONS, blocker.ANOTHERS}:
            raise blocker.RefusedError(why)

    async def _is_seen_to_go_on(self, known: LoggedCase) -> bool:
        """Like `has_gone_on`, for a reply in a thread; where that cannot be read in time, nothing
        has changed.
        """
        if known.parent_ts is None and known.messages == 1:
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
        found = await self.lookup.answered(known.channel_id, known.message_ts, known.parent_ts)
        if found is None:
            return False
        if len(found.reply) <= known.messages and text_hash(found.response) == known.response_hash:
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


def message_key(
    channel_id: str, message_ts: str, visibility: Visibility, user_id: str, attempt: int
) -> str:
    """The key that identifies a request to judge a message; private requests have one for each
    person.
    """
    audience = user_id if visibility is Visibility.ME else "thread"
    return f"message:{channel_id}:{message_ts}:{audience}:{attempt}"


def _asked_by(
    invocation: Invocation, channel_id: str, rubric: str, visibility: Visibility
) -> dict[str, Any]:
    return {
        "team_id": invocation.team_id,
        "channel_id": channel_id,
        "requester_id": invocation.user_id,
        "requester_name": invocation.user_name,
        "response_url": invocation.response_url,
        "rubric": rubric,
        "visibility": visibility,
    }


def _typed(invocation: Invocation, question: str) -> dict[str, Any]:
    source = QuestionSource.TYPED
    return {
        "question": question,
        "question_source": source,
        "question_author_id": invocation.user_id,
    }


def _next_attempt(case: Case, known: LoggedCase) -> dict[str, object]:
    attempt = known.attempt + 1
    return {"attempt": attempt, "key": f"{case.key.rpartition(':')[0]}:{attempt}"}
