"""Judges many rows at once: each is asked for once, written as soon as it is there, and none is lost."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from judge.batch.journal import Journal
from judge.batch.rows import Item, Malformed, Row, to_added
from judge.errors import (
    JudgeError,
    ModelNotFoundError,
    QuotaExceededError,
    RequestRejectedError,
    SetupError,
)
from judge.judging import Judge
from judge.offline import OFFLINE
from judge.ratings import Unscored, UnscoredReason, Verdict, combine

# What no other row would fare better with.
_HOPELESS = (SetupError, ModelNotFoundError, QuotaExceededError)
_FAILURES_PER_WORKER = 3


def samples_of(judge: Judge) -> int:
    """How many ratings each model gives: as many as asked, but one of the rater without a model, which never wavers."""
    return 1 if judge.model == OFFLINE else judge.samples


def identity_of(judge: Judge) -> Mapping[str, Any]:
    """The fields that all rows of one judge have in common, with their values."""
    # With a stronger model to ask, a row has the name of the one whose verdict counts.
    names = {"escalation": judge.escalation} | ({} if judge.escalation else {"model": judge.model})
    return names | {"rubric_version": judge.rubric.version, "samples": samples_of(judge)}


class Batch:
    """Brings rows to a judge and its verdicts into a journal.

    A row whose call fails is left out of the journal, so that the next run asks again; one that is too long for the
    model is unscored. The run stops early when
    no row could fare better (a wrong key, no quota, a full disk), after three failures in a row for each of the
    `concurrency` calls, and at `max_cost_usd`; calls under way are waited for, since they are paid for.

    Args:
        judge: Scores the rows.
        journal: Takes the verdicts.
        report: Gets one plain sentence for each row that fails, each line that is no row, and the first failed call of
            each model whose row was scored without it.
        unit: What a row is called in these sentences, before its number.
        concurrency: Rows under way at once, at least 1.
        max_cost_usd: No row is begun once the journal's verdicts have cost this much, in US dollars.

    Attributes:
        failed: Rows without a verdict, because calls failed.
        malformed: Lines that are no rows.
        stopped: What stopped the run early.
        is_spent: Whether `max_cost_usd` is reached.
    """

    def __init__(
        self,
        judge: Judge,
        journal: Journal,
        report: Callable[[str], None],
        *,
        unit: str = "line",
        concurrency: int = 8,
        max_cost_usd: float | None = None,
    ) -> None:
        self._judge = judge
        self._journal = journal
        self._report = report
        self._unit = unit
        self._concurrency = concurrency
        self._max_cost_usd = max_cost_usd
        self._failures_in_a_row = 0
        self._has_verdict = False
        self._absent: set[str] = set()
        self.failed = 0
        self.malformed = 0
        self.stopped: JudgeError | None = None
        self.is_spent = False

    @property
    def done(self) -> int:
        """Rows dealt with, those of earlier runs included."""
        return self._journal.tally.rows + self.failed

    async def run(self, items: Iterator[Item]) -> None:
        """Judges the rows among `items`, which are read one by one, as calls come free."""
        self._watch_cost()
        async with asyncio.TaskGroup() as group:
            for _ in range(self._concurrency):
                group.create_task(self._work(items))

    async def _work(self, items: Iterator[Item]) -> None:
        while item := self._next(items):
            if isinstance(item, Malformed):
                self.malformed += 1
                self._report(f"{self._unit} {item.line}: {item.why}; skipped.")
            else:
                await self._settle(item)
            await asyncio.sleep(0)  # a judge without a model never waits, and nobody else would get a turn

    def _next(self, items: Iterator[Item]) -> Item | None:
        if self.stopped or self.is_spent:
            return None
        try:
            return next(items, None)
        except SetupError as exc:
            self.stopped = exc
            return None

    async def _settle(self, row: Row) -> None:
        try:
            verdict = await self._judge.score(row.question, row.response)
        except JudgeError as exc:
            if exc.is_too_long:
                self._write(row, _without_score(self._judge, exc))
            else:
                self._note_failure(row, exc)
            return
        self._has_verdict = True
        self._failures_in_a_row = 0
        self._note_absent(row, verdict)
        self._write(row, verdict)

    def _write(self, row: Row, verdict: Verdict) -> None:
        try:
            self._journal.append(row, to_added(verdict, samples_of(self._judge)))
        except SetupError as exc:
            self.stopped = exc
        self._watch_cost()

    def _note_absent(self, row: Row, verdict: Verdict) -> None:
        """Names each model whose call failed, once: a misspelt one fails in every row."""
        for rating in verdict.ratings:
            if not isinstance(rating, Unscored) or rating.reason is not UnscoredReason.CALL_FAILED:
                continue
            if rating.model not in self._absent:
                self._absent.add(rating.model)
                self._report(f"{self._unit} {row.line}, without {rating.model!r}: {rating.detail}")

    def _note_failure(self, row: Row, exc: JudgeError) -> None:
        self.failed += 1
        if isinstance(exc, _HOPELESS):
            self.stopped = exc
            return
        self._report(f"{self._unit} {row.line}: {exc}")
        # Rows that a server rejects may well stand together; as long as others get verdicts, the server is fine.
        if not (isinstance(exc, RequestRejectedError) and self._has_verdict):
            self._failures_in_a_row += 1
        if self._failures_in_a_row >= _FAILURES_PER_WORKER * self._concurrency:
            self.stopped = exc

    def _watch_cost(self) -> None:
        tally = self._journal.tally
        if self._max_cost_usd is None:
            return
        if tally.unpriced:
            self.stopped = self.stopped or SetupError(
                f"What model {self._judge.model!r} costs here is not known, so --max-cost cannot be kept; "
                f"leave it out, and judge fewer {self._unit}s."
            )
        self.is_spent = tally.cost_usd >= self._max_cost_usd


def _without_score(judge: Judge, too_long: JudgeError) -> Verdict:
    rubric, why = judge.rubric, Unscored(reason=UnscoredReason.TOO_LONG, detail=str(too_long))
    return combine(
        (),
        model=judge.model,
        rubric=rubric.name,
        rubric_version=rubric.version,
        scale=rubric.scale,
        unscored=why,
        escalation=judge.escalation,
    )
