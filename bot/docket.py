"""The docket: brings every case from where it stands to the end, one step after the other, each step durable.

    received ──(read the message, find the question)──> received ──(judge)──> judged ──(deliver)──> delivered
        └──(no question found)──> asked ──(the person types it)──> received

`settle` may be called at any time, any number of times, by anybody: it takes a case up at the step it has reached.
"""

import asyncio
from collections.abc import Mapping

import structlog
from sqlalchemy.exc import DBAPIError

from bot.case import CaseStatus, LoggedCase
from bot.delivery import Delivery
from bot.log import Log
from bot.lookup import Lookup
from bot.verdict import RecordedVerdict, from_error, from_obstacle, from_verdict
from judge import Judge, JudgeError, nothing_to_judge

SWEEP_EVERY_S = 30

_GONE = "That message is gone, or I cannot see its channel (invite me there)."
_NO_RUBRIC = "The rubric {!r} is no longer there."
_NOT_KEPT = "The texts of that case were not kept, so I cannot score them again."

logger = structlog.get_logger(__name__)


class Docket:
    """Settles cases, at most `concurrency` of them in front of the judge at the same time.

    Args:
        log: Where cases are, and where each step is written down.
        judges: One judge for each rubric, by the rubric's name.
        lookup: Reads messages and finds questions.
        delivery: Posts and updates.
        concurrency: Cases that are judged at once; everything else is not bounded.
    """

    def __init__(
        self, log: Log, judges: Mapping[str, Judge], lookup: Lookup, delivery: Delivery, concurrency: int
    ) -> None:
        self._log = log
        self._judges = judges
        self._lookup = lookup
        self._delivery = delivery
        self._slots = asyncio.Semaphore(concurrency)
        self._running: dict[int, asyncio.Task[None]] = {}

    def start(self, case_id: int, trigger_id: str | None = None) -> asyncio.Task[None]:
        """Settles a case in the background; a case that is being settled already is left to that task."""
        task = self._running.get(case_id)
        if task is None:
            task = asyncio.create_task(self.settle(case_id, trigger_id), name=f"case-{case_id}")
            self._running[case_id] = task
            task.add_done_callback(lambda done: self._finished(case_id, done))
        return task

    async def sweep(self) -> None:
        """Takes up every case that has a way to go: after a crash, or after a step that failed for the moment."""
        for case_id in await self._log.unsettled():
            self.start(case_id)

    async def sweep_forever(self) -> None:
        """Sweeps now and then, until cancelled."""
        while True:
            try:
                await self.sweep()
            except DBAPIError as exc:
                logger.error("sweep_failed", reason=str(exc.orig), next_in_s=SWEEP_EVERY_S)
            await asyncio.sleep(SWEEP_EVERY_S)

    async def stop(self, grace_s: float) -> None:
        """Lets running cases finish for `grace_s`; the rest stays in the log for the next start."""
        if not self._running:
            return
        _, left = await asyncio.wait(self._running.values(), timeout=grace_s)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def settle(self, case_id: int, trigger_id: str | None = None) -> None:
        """Brings a case as far as it will go; `trigger_id`, while it lives, can open a modal that asks."""
        case = await self._log.case(case_id)
        if case.status is CaseStatus.RECEIVED:
            case = await self._complete(case)
            if _lacks_question(case):
                case = await self._log.note_asked(case_id)
                await self._delivery.ask(case, trigger_id)
        if case.status is CaseStatus.RECEIVED:
            case = await self._delivery.announce(case)
            case = await self._log.record(case_id, await self._judge(case))
        if case.status is CaseStatus.JUDGED:
            await self._deliver(case)

    async def _complete(self, case: LoggedCase) -> LoggedCase:
        """The case with what could be read in Slack, or with the obstacle that keeps it from being judged."""
        if case.obstacle is None:
            case = await self._read(case)
        if case.obstacle is None and case.question is not None:
            nothing = nothing_to_judge(case.question, case.response or "")
            if nothing:
                case = await self._log.note_texts(case.id, obstacle=nothing.detail)
        return case

    async def _read(self, case: LoggedCase) -> LoggedCase:
        """The case with the message behind a link, and with the question of a message."""
        if case.response is None:
            message = await self._lookup.message(case)
            if message is None:
                obstacle = _GONE if case.message_ts else _NOT_KEPT
                return await self._log.note_texts(case.id, obstacle=obstacle)
            case = await self._log.note_texts(
                case.id,
                response=message.text,
                author_id=message.author_id,
                parent_ts=message.parent_ts,
                obstacle=message.obstacle,
            )
        if _lacks_question(case):
            question = await self._lookup.question(case)
            if question:
                case = await self._log.note_texts(case.id, question=question.text, question_source=question.source)
        return case

    async def _judge(self, case: LoggedCase) -> RecordedVerdict:
        judge = self._judges.get(case.rubric) or next(iter(self._judges.values()))
        obstacle = case.obstacle or (_NO_RUBRIC.format(case.rubric) if judge.rubric.name != case.rubric else None)
        if obstacle:
            return from_obstacle(obstacle, judge.model, judge.rubric)
        async with self._slots:
            try:
                verdict = await judge.score(case.question or "", case.response or "")
            except JudgeError as exc:
                logger.warning("judge_failed", case=case.id, error=type(exc).__name__, reason=str(exc))
                return from_error(exc, judge.model, judge.rubric)
        return from_verdict(verdict, judge.rubric)

    async def _deliver(self, case: LoggedCase) -> None:
        verdict = await self._log.verdict(case.id)
        if verdict is None:
            raise LookupError(f"case {case.id} is judged and has no verdict in the log")
        await self._delivery.deliver(case, verdict)
        await self._log.note_delivered(case.id)
        logger.info("case_settled", case=case.id, score=verdict.score, reason=verdict.unscored_reason)

    def _finished(self, case_id: int, task: asyncio.Task[None]) -> None:
        del self._running[case_id]
        if not task.cancelled() and (error := task.exception()):
            logger.error("case_interrupted", case=case_id, exc_info=error)


def _lacks_question(case: LoggedCase) -> bool:
    return case.question is None and case.obstacle is None
