"""Judges many rows at once.

A journal keeps every verdict, and a run that ended early continues from it.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from itertools import islice
from typing import Any

from judge.errors import HOPELESS, JudgeError, RequestRejectedError, SetupError
from judge.rows.journal import Journal
from judge.rows.row_file import Row, to_added
from judge.scoring.judging import Judge
from judge.scoring.ratings import Unscored, UnscoredReason, Verdict


def identity_of(judge: Judge) -> Mapping[str, Any]:
    return {
        "model": judge.model,
        "rubric_version": judge.rubric.version,
        "samples": judge.samples,
        "ask": judge.ask,
    }


async def score_row(judge: Judge, row: Row) -> Verdict:
    """The verdict on a row; one that is too long for the model is unscored."""
    said = row.dialogue
    try:
        return await judge.score(
            said.question, said.response, conversation=said.conversation, reference=row.reference
        )
    except JudgeError as exc:
        if not exc.is_too_long:
            raise
        return judge.unscored(Unscored(reason=UnscoredReason.TOO_LONG, detail=str(exc)))


@dataclass
class Batch:
    """Sends rows to a judge and writes its verdicts to a journal.

    A row whose call fails is left out of the journal, so that the next run asks again; a row that
    is too long for the model is unscored. The run stops early if no other row could succeed either
    (a wrong key, no quota, a full disk), after 3 * `concurrency` failures in a row, and at
    `max_cost_usd`. Calls in progress are awaited, because they are paid for.
    """

    judge: Judge
    journal: Journal
    # Called with one plain sentence for each line that is not a row, and for the first row that
    # fails in a way, or gets a verdict without one of its models.
    report: Callable[[str], None]
    _: KW_ONLY
    concurrency: int = 8  # rows in progress at once, at least 1
    max_cost_usd: float | None = (
        None  # no row is started once the journal's verdicts have cost this much
    )

    failed: int = field(default=0, init=False)  # rows without a verdict because calls failed
    malformed: int = field(default=0, init=False)  # lines that are not rows
    stopped: JudgeError | None = field(
        default=None, init=False
    )  # the error that stopped the run early
    is_spent: bool = field(default=False, init=False)  # whether `max_cost_usd` is reached
    _failures_in_a_row: int = field(default=0, init=False)
    _has_verdict: bool = field(default=False, init=False)
    _told: set[str] = field(default_factory=set, init=False)

    async def run(self, items: Iterator[Row | str]) -> None:
        """Judges the rows among `items` (see `RowFile.items`), which are read one by one as calls
        become free.
        """
        self._watch_cost()
        if self.max_cost_usd is not None:
            # Whether the price is known shows with the first answer; the other rows wait for it.
            await self._work(islice(items, 1))
        async with asyncio.TaskGroup() as group:
            for _ in range(self.concurrency):
                group.create_task(self._work(items))

    async def _work(self, items: Iterator[Row | str]) -> None:
        try:
            while not (self.stopped or self.is_spent) and (item := next(items, None)):
                if isinstance(item, str):
                    self.malformed += 1
                    self.report(item)
                else:
                    await self._settle(item)
                await asyncio.sleep(
                    0
                )  # the offline rater never waits, so other tasks would get no turn
        except SetupError as exc:  # of the input, or of the journal
            self.stopped = exc

    async def _settle(self, row: Row) -> None:
        try:
            verdict = await score_row(self.judge, row)
        except JudgeError as exc:
            self._note_failure(row, exc)
            return
        self._has_verdict = True
        self._failures_in_a_row = 0
        for rating in verdict.ratings:
            if isinstance(rating, Unscored) and rating.reason is UnscoredReason.CALL_FAILED:
                self._tell_once(row, f"without {rating.model!r}: {rating.detail}")
        self.journal.write(row, to_added(verdict, self.judge.samples))
        self._watch_cost()

    def _note_failure(self, row: Row, exc: JudgeError) -> None:
        self.failed += 1
        is_hopeless = isinstance(exc, HOPELESS)
        if not is_hopeless:
            self._tell_once(row, str(exc))
            # Rows that a server rejects may well be consecutive; if other rows get verdicts, the
            # server works.
            self._failures_in_a_row += not (
                isinstance(exc, RequestRejectedError) and self._has_verdict
            )
        if is_hopeless or self._failures_in_a_row >= 3 * self.concurrency:  # three of each worker
            self.stopped = exc

    def _tell_once(self, row: Row, why: str) -> None:
        if why not in self._told:
            self._told.add(why)
            self.report(f"line {row.line}: {why}")

    def _watch_cost(self) -> None:
        tally = self.journal.tally
        if self.max_cost_usd is None:
            return
        if tally.unpriced:
            self.stopped = self.stopped or SetupError(
                f"What model {self.judge.model!r} costs here is not known, so --max-cost cannot "
                "be kept; leave it out, and judge fewer lines."
            )
        self.is_spent = tally.cost_usd >= self.max_cost_usd
