"""Judges many rows at once. A journal keeps every verdict, and a run that ended early continues from it."""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Self

from judge.errors import HOPELESS, JudgeError, RequestRejectedError, SetupError
from judge.rows.files import append, decode, encode, lock, os_reason, private, replacing
from judge.rows.row_file import ADDED, Item, Malformed, Row, RowFile, to_added, to_line
from judge.scoring.escalation import is_escalated
from judge.scoring.judging import Judge
from judge.scoring.offline import OFFLINE
from judge.scoring.ratings import Unscored, UnscoredReason, Verdict

_HEAD = b'{"line":'
_SYNC_EVERY_S = 5.0


@dataclass
class Tally:
    """Counts and sums over the rows that have a verdict."""

    scored: int = 0
    unscored: int = 0
    partial: int = 0  # scored by fewer ratings than were asked for
    escalated: int = 0  # scored by the stronger model
    scores: Counter[int] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0  # rows whose cost is unknown

    @property
    def rows(self) -> int:
        return self.scored + self.unscored

    def add(self, added: Mapping[str, Any]) -> None:
        if added["score"] is not None:
            self.scored += 1
            self.scores[added["score"]] += 1
            usable, _, asked = added["basis"].partition(" of ")
            self.partial += usable != asked
            self.escalated += is_escalated(added["model"] or "", added["escalation"])
        else:
            self.unscored += 1
            self.reasons[str(added["unscored_reason"])] += 1
        self.input_tokens += added["input_tokens"] or 0
        self.output_tokens += added["output_tokens"] or 0
        self.cost_usd += added["cost_usd"] or 0.0
        self.unpriced += added["cost_usd"] is None


class Journal:
    """The output of a batch: a JSONL file with one row per verdict, in order of arrival.

    A row is passed to the operating system at once, so that a killed process loses none, and reaches the disk within
    seconds. An incomplete last line, left by a killed process or a full disk, is cut off when the file is opened. Only
    one process at a time can have it open.

    Args:
        path: The file; if it does not exist, it is created, readable only by its owner.
        lines: The number of lines in the input.
        judge: The fields that identify the judge. Every row must have these values.
        sync: Flushes what was written to a file descriptor to the disk.
        clock: A monotonic clock, in seconds.
    """

    def __init__(
        self,
        path: Path,
        lines: int,
        judge: Mapping[str, Any],
        *,
        sync: Callable[[int], None] = os.fsync,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = path
        self.tally = Tally()
        self._lines = lines
        self._judge = judge
        self._sync = sync
        self._clock = clock
        # By line of the input: a hash of the row that was judged, and the offset of its verdict.
        self._rows: dict[int, tuple[int, int]] = {}
        self._end = 0
        self._synced_at = clock()
        if path.exists() and not path.is_file():
            raise SetupError(f"{path}: not a plain file; choose another output.")
        try:
            self._file: BinaryIO = open(path, "ab", buffering=0, opener=private)  # noqa: SIM115 - until `close`
            try:
                lock(self._file, path)
                self._load()
            except BaseException:
                self._file.close()
                raise
        except OSError as exc:
            raise SetupError(f"{path}: cannot read and write it ({os_reason(exc)}).") from exc

    def has(self, line: int) -> bool:
        """Whether there is a verdict for this line of the input."""
        return line in self._rows

    def check(self, source: RowFile) -> None:
        """Raises SetupError if a row of the journal is no longer in `source` as it was judged."""
        left = dict(self._rows)
        for line, raw in source.lines():
            if not left:
                return
            if judged := left.pop(line, None):
                carried = ""
                with suppress(ValueError):
                    carried = Row(line, decode(raw)).carried  # also of a row that an earlier version took
                if hash(carried) != judged[0]:
                    raise self._has_changed(f"line {line} of {source.path}")
        if left:
            raise self._has_changed(str(source.path))

    def append(self, item: Item, added: Mapping[str, Any]) -> None:
        """Writes the verdict on `item`."""
        raw = to_line(item, added)
        try:
            append(self._file, raw)
            self._count(item.line, 0, len(raw), added)
            if self._clock() - self._synced_at > _SYNC_EVERY_S:
                self._sync(self._file.fileno())
                self._synced_at = self._clock()
        except OSError as exc:
            raise SetupError(f"{self.path}: cannot continue writing ({os_reason(exc)}).") from exc

    def sort(self) -> None:
        """Puts the rows in the order of the input, in a second file that replaces the first when it is complete."""
        lines = sorted(self._rows)
        if lines == list(self._rows):
            return
        failure = f"{self.path}: has all rows, but they cannot be put in the order of the input ({{reason}})."
        with replacing(self.path, failure) as copy, self.path.open("rb") as rows:
            for line in lines:
                rows.seek(self._rows[line][1])
                copy.write(rows.readline())
            copy.flush()
            self._sync(copy.fileno())

    def close(self) -> None:
        """Flushes everything to the disk, and lets other processes write."""
        try:
            self._sync(self._file.fileno())
        except OSError as exc:
            raise SetupError(f"{self.path}: cannot be written to the disk ({os_reason(exc)}).") from exc
        finally:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _load(self) -> None:
        with self.path.open("rb") as rows:
            for number, raw in enumerate(rows, start=1):
                if not raw.endswith(b"\n") and raw[: len(_HEAD)] == _HEAD[: len(raw)]:
                    self._file.truncate(self._end)
                    return
                self._take(number, raw)

    def _take(self, number: int, raw: bytes) -> None:
        where, problem = f"{self.path}, line {number}", ""
        try:
            fields = decode(raw)
            # Rows of earlier versions have no `escalation`.
            added = {"escalation": None} | {name: fields.pop(name) for name in ADDED if name in fields}
            carried, line = encode(fields), added.get("line") or 0
            has_types = all(each is None or isinstance(each, (ADDED[name], int)) for name, each in added.items())
            if not (raw.endswith(b"\n") and len(added) == len(ADDED) and has_types and line >= 1):
                problem = "not a row with a verdict; choose another output."
        except ValueError as exc:
            problem = f"damaged ({exc}); delete that line to have its row judged again, or choose another output."
        if problem and number == 1:
            raise SetupError(f"{self.path}: not a file of verdicts to go on with; choose another output.")
        if problem:
            raise SetupError(f"{where}: {problem}")
        for name, value in self._judge.items():
            if added[name] != value:
                raise SetupError(
                    f"{where}: judged with {name} {added[name]!r}, and now it is {value!r}; "
                    "continue with the former, or choose another output."
                )
        if line > self._lines:
            raise self._has_changed("the input")
        if line in self._rows:
            raise SetupError(f"{where}: a second verdict on line {line} of the input; delete one of them.")
        self._count(line, hash(carried), len(raw), added)

    def _count(self, line: int, digest: int, size: int, added: Mapping[str, Any]) -> None:
        self.tally.add(added)
        self._rows[line] = digest, self._end
        self._end += size

    def _has_changed(self, what: str) -> SetupError:
        return SetupError(
            f"{what} has changed since its verdicts in {self.path}; restore it, or choose another output."
        )


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
            self._journal.append(row, to_added(verdict, samples_of(judge)))
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
