"""The case pipeline: takes a case from the step it has reached to the end, and stores each step.

    received ──(read the message, find the question, judge)──> judged ──(deliver)──> delivered
        └──(no question found)──> asked ──(the person types it)──> received

`settle` may be called at any time, any number of times, by any process: it continues a case from
the step it has reached, and only one attempt at a time holds a case. A step that fails is tried
again later (`retries`).
"""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache, partial
from typing import Any, NamedTuple, NoReturn

import structlog
from cachetools import LRUCache

from bot import metrics
from bot.domain.attempt import is_of_use, message_key
from bot.domain.blocker import TOO_LATE
from bot.domain.case import CaseSource, CaseStatus, LoggedCase, text_hash
from bot.domain.clock import utc_now
from bot.domain.fair_queue import BACKGROUND, FairQueue
from bot.domain.limits import Limits
from bot.domain.verdict import CaseVerdict, from_verdict, without_score
from bot.domain.watch import LATE, age_of
from bot.pipeline import retries
from bot.pipeline import text as messages
from bot.pipeline.asking import BudgetError, ask
from bot.pipeline.delivery import Delivery, taken_up
from bot.pipeline.judges import Judges
from bot.pipeline.lookup import Lookup, complete
from bot.pipeline.names import Names
from bot.pipeline.retries import RetryError
from bot.pipeline.tracing import Tracing
from bot.slack.client import SLACK_ERRORS
from bot.store import KeyTakenError, Store, TakenError
from bot.store.errors import STORE_ERRORS
from judge import DeadlineError, Judge, JudgeError, Verdict, find_flags
from judge.evaluation.stats import low_to
from judge.scoring.conversation import Turn
from judge.scoring.model.wishes import FLEX
from judge.scoring.ratings import Result

logger = structlog.get_logger(__name__)


class _ModelFailure(Exception):  # noqa: N818 - it is not an error of the app, and does not leave this module
    """The model cannot be asked now, and the case has tries left."""


class ModelTurns:
    """What all workspaces share: at most `concurrency` cases are judged at the same time.

    Workspaces, channels and people take turns. As many watched cases may wait beside them at the
    tier "flex", where an answer can take 15 minutes; the others give their job back, so that they
    keep no place in the queue from people's cases.
    """

    def __init__(self, concurrency: int) -> None:
        self.line = FairQueue(concurrency, metrics.QUEUE)
        # The attempts at watched cases that wait at the tier "flex".
        self.patient: dict[int, asyncio.Task[Any] | None] = {}
        self.most_patient = concurrency
        # The cases whose turn at the model has come, in order.
        self.under_way: dict[int, None] = {}
        # For cases whose try failed: what was judged, and the ratings that came and are paid for.
        self.came: LRUCache[int, tuple[int, Sequence[Result]]] = LRUCache(100)

    def background(self) -> AbstractAsyncContextManager[None]:
        """A turn at the model for a request that belongs to no case, once no case waits."""
        return self.line.turn(*[BACKGROUND] * 3)

    def place_of(self, case_id: int) -> int | None:
        """How many cases came before this one and are at the model; None while it waits."""
        in_order = list(self.under_way)
        return in_order.index(case_id) if case_id in in_order else None

    def begin_waiting(self, case_id: int) -> None:
        """Has this attempt wait at the tier "flex", or raises RetryError if as many do as may."""
        if len(self.patient) >= self.most_patient:
            raise RetryError("others wait at its tier", retries.FLEX_PAUSE)
        self.patient[case_id] = asyncio.current_task()

    def stop_waiting(self) -> None:
        """Ends the attempts that wait at the tier "flex", and lets none begin; the next start makes
        them again.
        """
        self.most_patient = 0
        for attempt in filter(None, self.patient.values()):
            attempt.cancel()


@dataclass(frozen=True)
class CasePipeline:
    """Settles the cases of one workspace.

    After each failed try of a model a case waits one of `model_pauses`; after the last it is given
    up.
    """

    store: Store
    judges: Judges
    lookup: Lookup
    delivery: Delivery
    turns: ModelTurns
    limits: Limits
    names: Names
    model_pauses: Sequence[timedelta] = retries.MODEL_PAUSES
    tracing: Tracing = Tracing()  # noqa: RUF009 - it has no state

    quick_s = 1.0
    """A verdict within this time is posted without a placeholder, because Slack marks changed messages as edited."""
    slow_s = 30.0
    """After this time, and again each time, the placeholder says how many verdicts come before this one."""

    async def settle(self, case_id: int, trigger_id: str | None = None) -> None:
        """Takes a case as far as possible; `trigger_id`, while valid, can open a modal that asks
        for the question.

        Raises RetryError if the case is not settled yet, and continues after a pause.
        """
        try:
            claimed = await self.store.claim(case_id)
            if claimed is None:
                return
            is_to_judge = claimed.status is CaseStatus.RECEIVED
            if is_to_judge and claimed.is_watched and self.judges.watch_tier == FLEX:
                self.turns.begin_waiting(case_id)
            with self.tracing.attempt(claimed):
                case = await self.store.cases.with_turns(claimed)
                settled = await self._settle(case, trigger_id)
            if settled:
                await self.names.note(settled)
        except KeyTakenError as exc:
            raise RetryError("another case has this reply since a moment ago", timedelta()) from exc
        except TakenError:
            logger.info("case_left_to_another", case=case_id)
        except STORE_ERRORS as exc:
            reason = retries.in_brief(exc) or type(exc).__name__
            logger.error(
                "database_out_of_reach",
                case=case_id,
                reason=reason,
                next_in_s=retries.STORE_PAUSE.total_seconds(),
            )
            raise RetryError(reason, retries.STORE_PAUSE) from exc
        finally:
            self.turns.patient.pop(case_id, None)

    async def _settle(self, claimed: LoggedCase, trigger_id: str | None) -> LoggedCase | None:
        """The case once its verdict is delivered; None if it waits for its question, or another
        case has its reply.
        """
        case = claimed
        is_intended = False
        try:
            if claimed.status is CaseStatus.RECEIVED:
                read = await self._to_judge(claimed, trigger_id)
                if read is None:
                    return None
                case = read
                is_intended = read is not claimed
                if is_intended:
                    # Stored before the model is asked, so that a person can have their words
                    # forgotten meanwhile.
                    case = await self.store.intend(case, claimed)
                case = taken_up(case)
                judging = asyncio.create_task(self._judge(case))
                try:
                    done, _ = await asyncio.wait([judging], timeout=self.quick_s)
                    if not done:
                        case = await self._announced(case, is_intended)
                        case = await self._tell_place(case, judging)
                    verdict = await judging
                finally:
                    judging.cancel()
                    self.turns.patient.pop(case.id, None)
                case = await self._record(case, verdict)
                self.tracing.judged(case, verdict)
            else:
                verdict = await self._recorded(case)
            with self.tracing.step("deliver", case):
                case = await self.delivery.deliver(case, verdict)
                await self.store.note_delivered(case)
            logger.info(
                "case_settled", case=case.id, score=verdict.score, reason=verdict.unscored_reason
            )
            return case
        except _ModelFailure as exc:
            await self._wait_for_the_model(case, is_intended, exc)
        except SLACK_ERRORS as exc:
            case = await self.store.note_failure(case, "slack_tries")
            raise self._retry(case, exc, retries.growing_pause(case.slack_tries)) from exc
        except (TakenError, RetryError, *STORE_ERRORS):
            raise
        except Exception as exc:  # after any error, the case is kept and tried again after a pause
            case = await self.store.note_failure(case, "internal_errors")
            raise self._retry(case, exc, retries.growing_pause(case.internal_errors)) from exc

    async def _recorded(self, case: LoggedCase) -> CaseVerdict:
        verdict = await self.store.cases.verdict(case.id)
        if verdict is None:
            raise LookupError(f"case {case.id} is judged and has no verdict in the database")
        return verdict

    async def _tell_place(self, case: LoggedCase, judging: asyncio.Task[Any]) -> LoggedCase:
        """The case, once it is judged; until then, whoever waits is told whenever its place
        changes.
        """
        is_awaited = case.reply_ts is not None or not case.is_watched
        if not is_awaited:
            return case
        is_first = True
        place_told: int | None = None
        while True:
            done, _ = await asyncio.wait([judging], timeout=self.slow_s)
            if done:
                return case
            place = self.turns.place_of(case.id)
            if is_first or place != place_told:
                post = messages.slow(case, place)
                case = await self.delivery.say_delay(case, post, is_first=is_first)
                place_told = place
                is_first = False

    async def _to_judge(self, claimed: LoggedCase, trigger_id: str | None) -> LoggedCase | None:
        """The case with all that is judged; None if it waits for its question, or another case has
        its reply.
        """
        with self.tracing.step("read", claimed):
            case, why_asked = await complete(self.lookup, claimed)
        if case.message_ts != claimed.message_ts:
            keyed = await self._keyed_by_reply(case)
            if keyed is None:
                return None
            case = keyed
        if case.lacks_question:
            # What was read is stored first, because a reply that its author had forgotten needs no
            # question.
            case = await self.store.renew(case, claimed)
        if case.lacks_question:
            # Asks first and stores that after: a crash in between asks the person twice rather than
            # never.
            await self.delivery.ask(case, trigger_id, why_asked)
            await self.store.note_asked(case)
            return None
        return case

    def _retry(self, case: LoggedCase, exc: Exception, pause: timedelta) -> RetryError:
        reason = retries.in_brief(exc)
        next_in_s = pause.total_seconds()
        if reason is None:
            logger.error("case_interrupted", case=case.id, next_in_s=next_in_s, exc_info=exc)
        else:
            # A known kind of failure: the retry needs no help.
            logger.warning("case_interrupted", case=case.id, reason=reason, next_in_s=next_in_s)
        return RetryError(reason or type(exc).__name__, pause)

    async def _wait_for_the_model(
        self, case: LoggedCase, is_intended: bool, failure: _ModelFailure
    ) -> NoReturn:
        pause = self.model_pauses[case.model_tries]
        case = await self._announced(case, is_intended)
        case = await self.store.note_failure(case, "model_tries")
        is_slow = isinstance(failure.__cause__, DeadlineError)
        post = messages.later(case, pause, len(self.model_pauses), is_slow=is_slow)
        await self.delivery.say_delay(case, post, is_first=case.model_tries == 1)
        raise RetryError(str(failure), pause) from failure.__cause__

    async def _keyed_by_reply(self, case: LoggedCase) -> LoggedCase | None:
        """The case with its reply's key, if another message of that was chosen; None if another
        case has the reply.
        """
        if case.message_ts is None:
            return case
        key = message_key(
            case.channel_id, case.message_ts, case.visibility, case.requester_id, attempt=1
        )
        case = case.model_copy(update={"key": key, "attempt": 1})
        read_hash = text_hash(case.response or "")
        while known := await self.store.cases.keyed(case.team_id, case.key):
            is_same = known.status is CaseStatus.RECEIVED or known.response_hash == read_hash
            if is_same and is_of_use(known, case):
                await self.delivery.tell_known(case, known)
                await self.store.drop(case)
                logger.info("case_joined", case=case.id, to=known.id)
                return None
            case = await self.store.cases.attempt_after(known, case, is_changed=not is_same)
        return case

    async def _announced(self, case: LoggedCase, is_intended: bool) -> LoggedCase:
        """The case with a placeholder in its thread; if Slack fails, the case goes on without one.

        The intent to post is stored first, unless it is already (`is_intended`).
        """
        if not case.is_posted or case.is_watched or case.blocked_by or case.reply_ts:
            return case
        if not is_intended:
            case = await self.store.intend(case)
        # Slack may have accepted a post whose answer was lost, so the next post must look for it
        # first.
        intended = case.model_copy(update={"thread_intent": True, "reply_intent": True})
        try:
            return await self.delivery.announce(case)
        except SLACK_ERRORS as exc:
            logger.warning("not_announced", case=case.id, reason=retries.in_brief(exc))
            return intended

    async def _judge(self, case: LoggedCase) -> CaseVerdict:
        judge = await self.judges.of(case)
        if judge is None:
            no_rubric = f"The rubric {case.rubric!r} is no longer there."
            return without_score("blocker", case.blocker or no_rubric, self.judges.default)
        if case.blocker:
            return without_score("blocker", case.blocker, judge)
        if _is_late(case):
            return without_score("blocker", TOO_LATE, judge)
        try:
            with self.tracing.step("judge", case):
                verdict = await self._score(judge, case)
        except JudgeError as exc:
            metrics.MODEL_FAILURES.labels(type(exc).__name__).inc()
            logger.warning("judge_failed", case=case.id, error=type(exc).__name__, reason=str(exc))
            if retries.may_pass(exc) and case.model_tries < len(self.model_pauses):
                raise _ModelFailure(type(exc).__name__) from exc
            return without_score(type(exc).__name__, str(exc), judge)
        except Exception as exc:  # a bug of ours: a restart may fix it, but retries must end
            if case.internal_errors < retries.MOST_INTERNAL_ERRORS:
                raise
            logger.error("case_given_up", case=case.id, exc_info=exc)
            # Only the class of the error is recorded, because its message may quote a text.
            return without_score("fault", type(exc).__name__, judge)
        for shortfall in judge.shortfalls:
            _say_once(shortfall)
        metrics.TOKENS.labels("input").inc(verdict.input_tokens or 0)
        metrics.TOKENS.labels("output").inc(verdict.output_tokens or 0)
        return from_verdict(verdict, judge, find_flags("", case.question or ""))

    async def _record(self, case: LoggedCase, verdict: CaseVerdict) -> LoggedCase:
        """The case with its verdict, which is paid for: while the store is out of reach, it is
        tried a few times.
        """
        failed = 0
        while True:
            try:
                return await self.store.record(case, verdict)
            except TakenError:
                if not failed:
                    raise
                # Only the answer to an earlier try may have been lost; then the verdict is still to
                # be delivered.
                raise RetryError("the verdict may be recorded", retries.RECORD_PAUSES[0]) from None
            except STORE_ERRORS as exc:
                if failed == len(retries.RECORD_PAUSES):
                    raise
                pause_s = retries.RECORD_PAUSES[failed].total_seconds()
                logger.warning(
                    "verdict_not_recorded",
                    case=case.id,
                    reason=retries.in_brief(exc),
                    next_in_s=pause_s,
                )
                await asyncio.sleep(pause_s)
                failed += 1

    async def _score(self, judge: Judge, case: LoggedCase) -> Verdict:
        """The judge's verdict in the case's turn, with its reason and its points where they are
        read.
        """
        is_patient = case.id in self.turns.patient
        line = case.team_id, case.channel_id, case.requester_id
        async with nullcontext() if is_patient else self.turns.line.turn(*line):
            material = _Material(case.question or "", case.response or "", case.conversation)
            verdict = await self._rated(judge, case, material)
            is_low = verdict.score is not None and verdict.score <= low_to(judge.rubric.scale)
            if is_low or case.is_posted or not case.is_watched:
                verdict = await self._with_reason(judge, case, material, verdict)
            if is_low and case.is_watched:
                verdict = await self._with_points(judge, case, material, verdict)
            return verdict

    async def _rated(self, judge: Judge, case: LoggedCase, material: "_Material") -> Verdict:
        """The verdict by ratings; those that an earlier try has paid for count."""
        judged = hash((judge.version, *material))
        judged_before, ratings = self.turns.came.pop(case.id, (None, ()))
        earlier = ratings if judged_before == judged else ()
        self.turns.under_way[case.id] = None
        try:
            with metrics.VERDICT_SECONDS.time():
                known = await self._known(judge, case)
                if known is not None:
                    return known
                return await judge.score(
                    material.question,
                    material.response,
                    conversation=material.conversation,
                    earlier=earlier,
                )
        except JudgeError as exc:
            if exc.ratings:
                self.turns.came[case.id] = judged, exc.ratings
            raise
        finally:
            del self.turns.under_way[case.id]

    async def _with_reason(
        self, judge: Judge, case: LoggedCase, material: "_Material", verdict: Verdict
    ) -> Verdict:
        """The verdict with its reason, if the judge gives one; the score stands without it."""
        try:
            return await judge.with_reason(
                verdict,
                material.question,
                material.response,
                conversation=material.conversation,
            )
        except JudgeError as exc:
            logger.warning("reason_not_given", case=case.id, reason=str(exc))
            return verdict

    async def _with_points(
        self, judge: Judge, case: LoggedCase, material: "_Material", verdict: Verdict
    ) -> Verdict:
        """The verdict with the points of the rubric's criteria, within the limits of watches; the
        score stands without them.
        """
        has_criteria = judge.rubric.criteria and judge.most_ratings
        if not has_criteria or verdict.points is not None:
            return verdict
        conversation = material.conversation
        said_before = [turn.text for turn in conversation]
        texts = [material.question, material.response, *said_before, judge.reference]
        request = partial(
            judge.with_points,
            verdict,
            material.question,
            material.response,
            conversation=conversation,
        )
        try:
            # Once answered it is no longer reserved, because the verdict counts its tokens.
            limits = self.limits.of_automation("Watches")
            return await ask(self.store, limits, case.team_id, texts, request, lambda _: 0)
        except (BudgetError, JudgeError, *STORE_ERRORS) as exc:
            # The verdict is paid for.
            error = type(exc).__name__
            logger.warning("judge_failed", case=case.id, error=error, reason="no points")
            return verdict

    async def _known(self, judge: Judge, case: LoggedCase) -> Verdict | None:
        """The verdict of this judge that a watch has on the same words; it is paid for already.

        *Score again* wants another one. None is known of words that are not kept.
        """
        if case.is_watched or case.message_ts is None or case.source is CaseSource.BUTTON:
            return None
        drawn = await self.store.watches.drawn(case, judge.version)
        if drawn is None or drawn.question != case.question or drawn.response != case.response:
            return None
        drawn = await self.store.cases.with_turns(drawn)
        verdict = await self.store.cases.verdict(drawn.id)
        if verdict is None or drawn.conversation != case.conversation:
            return None
        return replace(
            verdict,
            input_tokens=0,
            output_tokens=0,
            reasoning_tokens=None,
            latency_ms=None,
            cost_usd=0.0,
        )


class _Material(NamedTuple):
    """The texts that are judged."""

    question: str
    response: str
    conversation: tuple[Turn, ...]


def _is_late(case: LoggedCase) -> bool:
    """Whether a watch would score an old reply among fresh ones; a person's case is never late."""
    if not case.is_watched or case.message_ts is None:
        return False
    return age_of(case.message_ts, utc_now()) > LATE


@cache
def _say_once(shortfall: str) -> None:
    logger.warning("server_differs", reason=shortfall)
