"""Asks the judge about a case, in the case's slot: for its ratings, and the reason and points that
are read.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache, partial

import structlog

from bot import metrics
from bot.domain.blocker import TOO_LATE
from bot.domain.case import CaseSource, LoggedCase
from bot.domain.clock import utc_now
from bot.domain.limits import Limits
from bot.domain.verdict import CaseVerdict, from_verdict, without_score
from bot.domain.watch import LATE, age_of
from bot.pipeline import retries
from bot.pipeline.asking import BudgetError, ask
from bot.pipeline.judges import Judges
from bot.pipeline.slots import ModelSlots
from bot.pipeline.tracing import Tracing
from bot.store import Store
from bot.store.errors import STORE_ERRORS
from judge import Judge, JudgeError, Verdict, find_flags
from judge.evaluation.stats import low_to
from judge.scoring.model.wishes import FLEX

logger = structlog.get_logger(__name__)


SLOW_S = 10.0
"""After how long the log says that a model has not answered yet."""


class ModelFailure(Exception):  # noqa: N818 - it is not an error of the app, and does not leave the pipeline
    """The model cannot be asked now, and the case has tries left."""


@dataclass(frozen=True)
class Judging:
    """Judges the cases of one workspace.

    After each failed try of a model a case waits one of `model_pauses`; after the last it is given
    up.
    """

    store: Store
    judges: Judges
    slots: ModelSlots
    limits: Limits
    model_pauses: Sequence[timedelta] = retries.MODEL_PAUSES
    tracing: Tracing = Tracing()  # noqa: RUF009 - it has no state

    async def judge(self, case: LoggedCase) -> CaseVerdict:
        """The verdict on a case, also if there is no score; raises ModelFailure if the model is to be
        asked again later.
        """
        judge = await self.judges.of(case)
        blocker = case.blocker
        if judge is None:
            blocker = blocker or f"The rubric {case.rubric!r} is no longer there."
        elif _is_late(case):
            blocker = blocker or TOO_LATE
        if judge is None or blocker:
            return without_score("blocker", blocker or "", judge or self.judges.default)
        try:
            with self.tracing.step("judge", case):
                verdict = await self._score(judge, case)
        except JudgeError as exc:
            return self._failed(judge, case, exc)
        except Exception as exc:  # a bug of ours: a restart may fix it, but retries must end
            if case.internal_errors < retries.MOST_INTERNAL_ERRORS:
                raise
            logger.error("case_given_up", case=case.id, exc_info=exc)
            # Only the class of the error is recorded, because its message may quote a text.
            return without_score("fault", type(exc).__name__, judge)
        _note_success(judge, verdict)
        return from_verdict(verdict, judge, find_flags("", case.question or ""))

    def begin_waiting(self, case: LoggedCase) -> None:
        """Has a watched case wait beside the others, if watches are scored at the tier "flex";
        raises RetryError if none may any more.
        """
        if case.is_watched and self.judges.watch_tier == FLEX:
            self.slots.begin_waiting(case.id)

    def _failed(self, judge: Judge, case: LoggedCase, exc: JudgeError) -> CaseVerdict:
        error = type(exc).__name__
        metrics.MODEL_FAILURES.labels(error).inc()
        metrics.LAST_MODEL_FAILURE.set_to_current_time()
        logger.warning("judge_failed", case=case.id, error=error, reason=str(exc))
        if retries.may_pass(exc) and case.model_tries < len(self.model_pauses):
            raise ModelFailure(error) from exc
        return without_score(error, str(exc), judge)

    async def _score(self, judge: Judge, case: LoggedCase) -> Verdict:
        """The judge's verdict in the case's slot, with its reason and its points where they are
        read.
        """
        is_patient = case.id in self.slots.patient
        line = case.team_id, case.channel_id, case.requester_id
        async with nullcontext() if is_patient else self.slots.line.slot(*line):
            verdict = await self._rated(judge, case)
            is_low = verdict.score is not None and verdict.score <= low_to(judge.rubric.scale)
            if is_low or case.is_posted or not case.is_watched:
                verdict = await self._with_reason(judge, case, verdict)
            if is_low and case.is_watched:
                verdict = await self._with_points(judge, case, verdict)
            return verdict

    async def _rated(self, judge: Judge, case: LoggedCase) -> Verdict:
        """The verdict by ratings; those that an earlier try has paid for count."""
        judged = hash((judge.version, case.texts, case.conversation))
        judged_before, ratings = self.slots.came.pop(case.id, (None, ()))
        earlier = ratings if judged_before == judged else ()
        self.slots.under_way[case.id] = None
        try:
            with metrics.VERDICT_SECONDS.time(), _said_if_slow(case):
                known = await self._known(judge, case)
                if known is not None:
                    return known
                return await judge.score(
                    *case.texts, conversation=case.conversation, earlier=earlier
                )
        except JudgeError as exc:
            if exc.ratings:
                self.slots.came[case.id] = judged, exc.ratings
            raise
        finally:
            del self.slots.under_way[case.id]

    async def _with_reason(self, judge: Judge, case: LoggedCase, verdict: Verdict) -> Verdict:
        """The verdict with its reason, if the judge gives one; the score stands without it."""
        try:
            return await judge.with_reason(verdict, *case.texts, conversation=case.conversation)
        except JudgeError as exc:
            logger.warning("reason_not_given", case=case.id, reason=str(exc))
            return verdict

    async def _with_points(self, judge: Judge, case: LoggedCase, verdict: Verdict) -> Verdict:
        """The verdict with the points of the rubric's criteria, within the limits of watches; the
        score stands without them.
        """
        has_criteria = judge.rubric.criteria and judge.most_ratings
        if not has_criteria or verdict.points is not None:
            return verdict
        request = partial(judge.with_points, verdict, *case.texts, conversation=case.conversation)
        try:
            limits = self.limits.of_automation("Watches")
            return await ask(self.store, limits, case.team_id, request)
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
        if drawn is None or drawn.texts != case.texts:
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


def _note_success(judge: Judge, verdict: Verdict) -> None:
    metrics.LAST_VERDICT.set_to_current_time()
    metrics.TOKENS.labels("input").inc(verdict.input_tokens or 0)
    metrics.TOKENS.labels("output").inc(verdict.output_tokens or 0)
    for shortfall in judge.shortfalls:
        _say_once(shortfall)


def _is_late(case: LoggedCase) -> bool:
    """Whether a watch would score an old reply among fresh ones; a person's case is never late."""
    if not case.is_watched or case.message_ts is None:
        return False
    return age_of(case.message_ts, utc_now()) > LATE


@cache
def _say_once(shortfall: str) -> None:
    logger.warning("server_differs", reason=shortfall)


@contextmanager
def _said_if_slow(case: LoggedCase) -> Iterator[None]:
    """Logs that the model is still being waited for, so that one that hangs is seen at once."""
    loop = asyncio.get_running_loop()
    timer = loop.call_later(
        SLOW_S, lambda: logger.warning("model_slow", case=case.id, waited_s=SLOW_S)
    )
    try:
        yield
    finally:
        timer.cancel()
