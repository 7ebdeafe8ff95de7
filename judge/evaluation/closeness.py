"""Whether a judge's scores are closer to people's than those that another judge gave to the same
rows.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from judge.errors import SetupError
from judge.evaluation.labelled import LabelledRows, Range
from judge.evaluation.stats import paired
from judge.rows.batch import identity_of
from judge.rows.files import decode, read_lines, shown
from judge.rows.row_file import Row
from judge.scoring.judging import Judge
from judge.scoring.numbers import number_of


class _Pair(NamedTuple):
    """The distances of both judges' scores from what people gave one row."""

    before: float
    now: float
    thread: object


@dataclass
class Closeness:
    """Compares the scores of an output with those in a file of another judge, by people's labels.

    Rows with the same texts are a pair. Only labels given blind count: whoever has seen a score
    leans towards it, and that was the earlier judge's.
    """

    judge: Judge
    output: Path
    earlier: Path
    label: str
    label_range: Range | None = None
    _before: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list), init=False)
    _seen: int = field(default=0, init=False)  # rows with labels that were not given blind
    _unscored: int = field(default=0, init=False)  # labelled rows that one of them did not score

    def __post_init__(self) -> None:
        low, high = self.judge.rubric.scale
        for row in _rows(self.earlier):
            score = row.get("score")
            if score is None:
                continue
            if type(score) is not int or not low <= score <= high:
                raise SetupError(
                    f"{self.earlier}, line {row.line}: score {shown(score)} is not a whole number "
                    f"from {low} to {high}; only judges with one scale can be compared."
                )
            self._before[_texts(row)].append(score)

    def finish(self, missing: int, say: Callable[[str], None]) -> None:
        """Says how far each judge is from people's scores, and which one is clearly closer.

        `missing` is the number of rows without a verdict.
        """
        pairs = [*self._pairs()]
        if missing:
            say(f"Rows without a verdict: {missing:,}.")
        if self._seen:
            say(f"Left out, since their labels were not given blind: {self._seen:,}.")
        if self._unscored:
            say(f"Labelled rows without a score by one of the two judges: {self._unscored:,}.")
        if not pairs:
            say(f"Compared: no row has a label and a score by both, now and in {self.earlier}.")
            return
        before = fmean(pair.before for pair in pairs)
        now = fmean(pair.now for pair in pairs)
        say(f"Labelled rows with a score by both judges: {len(pairs):,}.")
        say(f"Mean distance from people's scores: {before:.2f} before, now {now:.2f}.")
        same_before = sum(pair.before == 0 for pair in pairs)
        same_now = sum(pair.now == 0 for pair in pairs)
        say(f"Same score as people: {same_before:,} before, now {same_now:,}.")
        say(f"Compared: {self._finding(pairs)}.")

    def _finding(self, pairs: list[_Pair]) -> str:
        gain = paired(
            ((pair.before - pair.now, pair.thread) for pair in pairs), self.judge.rubric.scale
        )
        if gain is None or gain.low is None or gain.high is None:
            return f"{number_of(len(pairs), 'row')} of one thread: too few to tell"
        side = "closer to" if gain.mean > 0 else "farther from"
        certainty = "clearly" if gain.is_clear else "not clearly"
        return (
            f"{certainty} {side} people's scores than {self.earlier}, by {abs(gain.mean):.2f} "
            f"points (95% interval {gain.low:+.2f} to {gain.high:+.2f}; above 0 is closer)"
        )

    def _pairs(self) -> Iterator[_Pair]:
        labelled = LabelledRows([], self.label, self.label_range, scores=())
        for row in _rows(self.output):
            read = labelled.read(row, self.judge.rubric.scale)
            if not read.labels:
                continue
            if not read.is_blind:
                self._seen += 1
                continue
            scores_before = self._before[_texts(row)]
            score = row.get("score")
            if score is None or not scores_before:
                self._unscored += 1
                continue
            given = fmean(read.labels)
            thread = row.key("thread") or row.known_by[0]
            yield _Pair(abs(scores_before.pop(0) - given), abs(score - given), thread)
        labelled.check()


def is_of_another_judge(path: Path, judge: Judge) -> bool:
    """Whether the first row with a score was scored by another judge, as far as it says."""
    identity = identity_of(judge)
    for row in _rows(path):
        if row.get("score") is not None:
            return any(row.get(name) != value for name, value in identity.items())
    return False


def _rows(path: Path) -> Iterator[Row]:
    """The rows that have texts; exports leave out those of deleted messages."""
    for line, raw in read_lines(path):
        try:
            row = Row(line, decode(raw))
            _ = row.dialogue
        except ValueError:
            continue
        yield row


def _texts(row: Row) -> int:
    return hash((row.dialogue, row.reference))
