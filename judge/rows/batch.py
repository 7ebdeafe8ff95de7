"""Judges many rows at once. A journal keeps every verdict, and a run that ended early continues from it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from judge.errors import HOPELESS, JudgeError, RequestRejectedError, SetupError
from judge.rows.journal import Journal
from judge.rows.row_file import Item, Malformed, to_added
from judge.scoring.judging import Judge
from judge.scoring.offline import OFFLINE
from judge.scoring.ratings import Unscored, UnscoredReason, Verdict

_FAILURES_PER_WORKER = 3


def samples_of(judge: Judge) -> int:
    """The number of ratings by each model; 1 for the offline rater, which always gives the same one."""
    return 1 if judge.model == OFFLINE else judge.samples


def identity_of(judge: Judge) -> Mapping[str, Any]:
    # With a stronger model, the `model` of a row is the one whose verdict counts, so it does not identify the judge.
    names = {"escalation": judge.escalation} | ({} if judge.escalation else {"model": judge.model})
    return names | {"rubric_version": judge.rubric.version, "samples": samples_of(judge)}


class Batch:
    """Sends rows to a judge and writes its verdicts to a journal.

    A row whose call fails is left out of the journal, so that the next run asks again; a row that is too long for the
    model is unscored. The run stops early if no other row could succeed either (a wrong key, no quota, a full disk),
    after 3 * `concurrency` failures in a row, and at `max_cost_usd`. Calls in progress are awaited, because they are
    paid for.

    Args:
        judge: Scores the rows.
        journal: Receives the verdicts.
        report: Called with one plain sentence for each row that fails, each line that is not a row, and the first
            failed call of each model whose row got a verdict without it.
        unit: The word for a row in these sentences, before its number.
        concurrency: The number of rows in progress at once, at least 1.
        score: Scores a row instead of `judge`; None means that there is no verdict yet, and is not counted.
        max_cost_usd: No row is started once the journal's verdicts have cost this much, in US dollars.

    Attributes:
        failed: The number of rows without a verdict because calls failed.
        malformed: The number of lines that are not rows.
        stopped: The error that stopped the run early.
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
        score: Callable[[Item], Awaitable[Verdict | None]] | None = None,
        max_cost_usd: float | None = None,
    ) -> None:
        self._judge = judge
        self._score = score or (lambda row: judge.score(row.question, row.response, conversation=row.conversation))
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
        return self._journal.tally.rows + self.failed

    async def run(self, items: Iterator[Item | Malformed]) -> None:
        """Judges the rows among `items`, which are read one by one as calls become free."""
        self._watch_cost()
        async with asyncio.TaskGroup() as group:
            for _ in range(self._concurrency):
                group.create_task(self._work(items))

    async def _work(self, items: Iterator[Item | Malformed]) -> None:
        while not (self.stopped or self.is_spent):
            try:
                item = next(items, None)
            except SetupError as exc:
                self.stopped = exc
                return
            if item is None:
                return
            if isinstance(item, Malformed):
                self.malformed += 1
                self._report(f"{self._unit} {item.line}: {item.why}; skipped.")
            else:
                await self._settle(item)
            await asyncio.sleep(0)  # the offline rater never waits, so other tasks would get no turn

    async def _settle(self, row: Item) -> None:
        judge = self._judge
        try:
            verdict = await self._score(row)
            if verdict is None:
                return
            self._has_verdict = True
            self._failures_in_a_row = 0
        except JudgeError as exc:
            if not exc.is_too_long:
                self._note_failure(row, exc)
                return
            verdict = judge.unscored(Unscored(reason=UnscoredReason.TOO_LONG, detail=str(exc)))
        for rating in verdict.ratings:
            if not isinstance(rating, Unscored) or rating.reason is not UnscoredReason.CALL_FAILED:
                continue
            if rating.model not in self._absent:
                self._absent.add(rating.model)
                self._report(f"{self._unit} {row.line}, without {rating.model!r}: {rating.detail}")
        try:
            self._journal.write(row, to_added(verdict, samples_of(judge)))
        except SetupError as exc:
            self.stopped = exc
        self._watch_cost()

    def _note_failure(self, row: Item, exc: JudgeError) -> None:
        self.failed += 1
        is_hopeless = isinstance(exc, HOPELESS)
        if not is_hopeless:
            self._report(f"{self._unit} {row.line}: {exc}")
            # Rows that a server rejects may well be consecutive; if other rows get verdicts, the server works.
            self._failures_in_a_row += not (isinstance(exc, RequestRejectedError) and self._has_verdict)
        if is_hopeless or self._failures_in_a_row >= _FAILURES_PER_WORKER * self._concurrency:
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
