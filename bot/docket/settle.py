"""The docket: brings every case from where it stands to the end, one step after the other, each step durable.

    received ──(read the message, find the question)──> received ──(judge)──> judged ──(deliver)──> delivered
        └──(no question found)──> asked ──(the person types it)──> received

`settle` may be called at any time, any number of times, by any process: it takes a case up at the step it has
reached, and only one process holds a case. A step that fails is tried again later, after growing pauses.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta

import structlog

from bot import metrics
from bot.docket.delivery import Delivery
from bot.docket.fair_queue import Turns
from bot.docket.lookup import Lookup, OutOfSightError
from bot.domain.case import CaseStatus, LoggedCase
from bot.domain.obstacle import Obstacle, ObstacleKind
from bot.domain.verdict import RecordedVerdict, from_error, from_fault, from_obstacle, from_verdict
from bot.log import LapsedError, Log, TakenError
from bot.log.errors import LOG_ERRORS, in_brief
from bot.views.modals import NO_QUESTION, OUT_OF_SIGHT
from bot.views.obstacles import obstacle_text
from judge import (
    DeadlineError,
    Judge,
    JudgeError,
    QuotaExceededError,
    RateLimitedError,
    UnavailableError,
    nothing_to_judge,
)

BEAT_S = 5.0
MODEL_PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 3, 6))
_FIRST_PAUSE = timedelta(seconds=1)
_LONGEST_PAUSE = timedelta(minutes=5)
_MOST_TRIES = 10  # about a quarter of an hour

_PASSING = (DeadlineError, RateLimitedError, UnavailableError)

logger = structlog.get_logger(__name__)


class _NotNowError(Exception):
    """The model cannot be asked at the moment, and the case may wait."""


class Docket:
    """Settles cases, at most `concurrency` of them in front of the judge at the same time, channels in turn.

    Args:
        log: Where cases are, and where each step is written down.
        team_id: Whose cases; another workspace may have its own in the same log, and another bot.
        judges: One judge for each rubric, by the rubric's name.
        lookup: Reads messages and finds questions.
        delivery: Posts and updates.
        concurrency: Cases that are judged at once; everything else is not bounded.
        model_pauses: How long a case waits after each failed try of a model that is busy, down or slow;
            after the last one it is given up.
    """

    def __init__(
        self,
        log: Log,
        team_id: str,
        judges: Mapping[str, Judge],
        lookup: Lookup,
        delivery: Delivery,
        concurrency: int,
        model_pauses: Sequence[timedelta] = MODEL_PAUSES,
    ) -> None:
        self._log = log
        self._team_id = team_id
        self._judges = judges
        self._lookup = lookup
        self._delivery = delivery
        self._turns = Turns(concurrency)
        self._model_pauses = model_pauses
        self._running: dict[int, asyncio.Task[None]] = {}
        self._is_stopping = False
        self._is_due = asyncio.Event()

    def start(self, case_id: int, trigger_id: str | None = None, added: LoggedCase | None = None) -> asyncio.Task[None]:
        """Settles a case in the background; a case that is being settled already is left to that task.

        `added` is the case as `Log.add` gave it a moment ago, which spares reading it again.
        """
        task = self._running.get(case_id)
        if task is None:
            task = asyncio.create_task(self._settle_or_postpone(case_id, trigger_id, added), name=f"case-{case_id}")
            self._running[case_id] = task
            metrics.RUNNING.inc()
            task.add_done_callback(lambda done: self._finished(case_id, done))
        return task

    async def sweep(self) -> None:
        """Takes up every case that has a way to go: after a crash, ours or another's, and when a pause is over."""
        for case_id in await self._log.unsettled(self._team_id):
            self.start(case_id)

    async def beat_forever(self, is_connected: Callable[[], Awaitable[bool]]) -> None:
        """Says every few seconds that this process is alive, and sweeps; until cancelled."""
        while True:
            self._is_due.clear()  # before the sweep: what falls due from here on is not for this one
            try:
                await self._beat(is_connected=await is_connected())
                if not self._is_stopping:
                    await self.sweep()
            except LOG_ERRORS as exc:
                logger.error("log_out_of_reach", reason=in_brief(exc), next_in_s=BEAT_S)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_due.wait(), BEAT_S)

    async def stop(self, grace_s: float) -> None:
        """Lets running cases finish for `grace_s`; the rest stays in the log for the next start."""
        self._is_stopping = True
        try:
            if self._running:
                await asyncio.wait(self._running.values(), timeout=grace_s)
        finally:  # whoever does not wait for it must not leave cases running behind a closed log either
            await self._drop_all()

    async def settle(self, case_id: int, trigger_id: str | None = None, added: LoggedCase | None = None) -> None:
        """Brings a case as far as it will go; `trigger_id`, while it lives, can open a modal that asks.

        Raises:
            TakenError, LapsedError: Another process has the case, or may have.
        """
        case = added or await self._log.claim(case_id)
        if case is None:
            return
        verdict = None
        if case.status is CaseStatus.RECEIVED:
            reason = NO_QUESTION
            try:
                case = await self._complete(case)
            except OutOfSightError:
                reason = OUT_OF_SIGHT
            if case.lacks_question:
                # Asked before it is noted: after a crash in between the person is asked twice rather than never.
                await self._delivery.ask(case, trigger_id, reason)
                await self._log.note_asked(case)
                return
            case = await self._delivery.announce(case)
            verdict = await self._judge(case)
            case = await self._log.record(case, verdict)
        await self._deliver(case, verdict)

    async def _settle_or_postpone(self, case_id: int, trigger_id: str | None, added: LoggedCase | None) -> None:
        try:
            await self.settle(case_id, trigger_id, added)
        except (TakenError, LapsedError):
            logger.info("case_left_to_another", case=case_id)
        except _NotNowError:
            case = await self._log.case(case_id)
            pause = self._model_pauses[case.tries]
            case = await self._log.postpone(case, pause)
            try:
                await self._delivery.say_later(case, pause, len(self._model_pauses))
            finally:  # said or not, the case is due by then
                self._wake_after(pause)
        except Exception as exc:  # whatever it was, the case is not lost, and not tried in a rush
            case = await self._log.case(case_id)
            pause = min(_FIRST_PAUSE * 2 ** min(case.tries, 10), _LONGEST_PAUSE)
            reason = in_brief(exc)
            logger.error(
                "case_interrupted", case=case_id, reason=reason, next_in_s=pause.total_seconds(), exc_info=not reason
            )
            await self._log.postpone(case, pause)
            self._wake_after(pause)

    def _wake_after(self, pause: timedelta) -> None:
        """The sweep does not wait for the next beat; called last, since it passes over what is still being settled."""
        asyncio.get_running_loop().call_later(pause.total_seconds(), self._is_due.set)

    async def _beat(self, *, is_connected: bool) -> None:
        try:
            await self._log.presence.beat(is_connected=is_connected)
        except LapsedError:
            logger.error("silent_for_too_long", left_to_others=len(self._running))
            await self._drop_all()
            await self._log.presence.enter()

    async def _drop_all(self) -> None:
        left = list(self._running.values())
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _complete(self, case: LoggedCase) -> LoggedCase:
        """The case with what could be read in Slack, or with the obstacle that keeps it from being judged."""
        if case.obstacle is None:
            case = await self._read(case)
        if case.obstacle is None and case.question is not None:
            nothing = nothing_to_judge(case.question, case.response or "")
            if nothing:
                case = await self._log.note_texts(case, obstacle=nothing.detail)
        return case

    async def _read(self, case: LoggedCase) -> LoggedCase:
        """The case with the message behind a link, and with the question of a message."""
        if case.response is None:
            message = await self._lookup.message(case)
            if message is None:
                kind = ObstacleKind.GONE if case.message_ts else ObstacleKind.NOT_KEPT
                return await self._log.note_texts(case, obstacle=obstacle_text(Obstacle(kind)))
            case = await self._log.note_texts(
                case,
                response=message.text,
                author_id=message.author_id,
                parent_ts=message.parent_ts,
                obstacle=message.obstacle and obstacle_text(message.obstacle),
            )
        if case.lacks_question:
            question = await self._lookup.question(case)
            if question:
                case = await self._log.note_texts(
                    case, question=question.text, question_source=question.source, question_ts=question.ts
                )
        return case

    async def _judge(self, case: LoggedCase) -> RecordedVerdict:
        judge = self._judges.get(case.rubric) or next(iter(self._judges.values()))
        obstacle = case.obstacle
        if obstacle is None and judge.rubric.name != case.rubric:
            obstacle = obstacle_text(Obstacle(ObstacleKind.NO_RUBRIC, (case.rubric,)))
        if obstacle:
            return from_obstacle(obstacle, judge.model, judge.rubric)
        try:
            async with self._turns.of(case.channel_id):
                with metrics.VERDICT_SECONDS.time():
                    verdict = await judge.score(case.question or "", case.response or "")
        except JudgeError as exc:
            metrics.MODEL_FAILURES.labels(type(exc).__name__).inc()
            logger.warning("judge_failed", case=case.id, error=type(exc).__name__, reason=str(exc))
            if _may_pass(exc) and case.tries < len(self._model_pauses):
                raise _NotNowError from exc
            return from_error(exc, judge.model, judge.rubric)
        except Exception as exc:  # a fault of ours, which may be mended by the next start, but must not go on for ever
            if case.tries < _MOST_TRIES:
                raise
            logger.error("case_given_up", case=case.id, exc_info=exc)
            return from_fault(exc, judge.model, judge.rubric)
        metrics.TOKENS.labels("input").inc(verdict.input_tokens or 0)
        metrics.TOKENS.labels("output").inc(verdict.output_tokens or 0)
        return from_verdict(verdict, judge.rubric)

    async def _deliver(self, case: LoggedCase, verdict: RecordedVerdict | None) -> None:
        verdict = verdict or await self._log.verdict(case.id)
        if verdict is None:
            raise LookupError(f"case {case.id} is judged and has no verdict in the log")
        await self._delivery.deliver(case, verdict)
        await self._log.note_delivered(case)
        logger.info("case_settled", case=case.id, score=verdict.score, reason=verdict.unscored_reason)

    def _finished(self, case_id: int, task: asyncio.Task[None]) -> None:
        del self._running[case_id]
        metrics.RUNNING.dec()
        if not task.cancelled() and (error := task.exception()):
            logger.error("case_left_to_the_sweep", case=case_id, exc_info=error)


def _may_pass(error: JudgeError) -> bool:
    return isinstance(error, _PASSING) and not isinstance(error, QuotaExceededError)
