"""Whether a judge's scores are closer to people's than those that another judge gave to the same
rows.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from judge.evaluation.agreement.scores import Columns, Scores, read_scores
from judge.evaluation.labelled import Range
from judge.evaluation.stats import paired
from judge.rows.batch import identity_of
from judge.rows.row_file import RowFile
from judge.scoring.judging import Judge
from judge.scoring.numbers import number_of


class _Pair(NamedTuple):
    """The distances of both judges' scores from what people gave one row."""

    before: float
    now: float
    thread: str


@dataclass
class Closeness:
    """Compares the scores of an output with those in a file of another judge, by people's labels.

    Only labels given blind count: whoever has seen a score leans towards it, and that was the
    earlier judge's.
    """

    judge: Judge
    output: Path
    earlier: Path
    label: str
    label_range: Range | None = None

    def __post_init__(self) -> None:
        self._read()  # what cannot be compared is refused before a model is paid

    def _read(self, output: Path | None = None) -> Scores:
        columns = Columns(
            self.label, label_range=self.label_range, more=output, takes_other_judge=True
        )
        return read_scores(self.earlier, columns, self.judge.rubric)

    def finish(self, missing: int, say: Callable[[str], None]) -> None:
        """Says how far each judge is from people's scores, and which one is clearly closer.

        `missing` is the number of rows without a verdict.
        """
        pairs, left_out = self._pairs(self._read(self.output))
        if missing:
            say(f"Rows without a verdict: {missing:,}.")
        for why, number in left_out.items():
            say(f"{why}: {number:,}.")
        if not pairs:
            say(f"Compared: no row has a label and a score by both, now and in {self.earlier}.")
            return
        before_mean = fmean(pair.before for pair in pairs)
        mean = fmean(pair.now for pair in pairs)
        say(f"Labelled rows with a score by both judges: {len(pairs):,}.")
        say(f"Mean distance from people's scores: {before_mean:.2f} before, now {mean:.2f}.")
        say(f"Compared: {self._finding(pairs)}.")

    def _pairs(self, scores: Scores) -> tuple[list[_Pair], Counter[str]]:
        """The rows with a blind label and both scores, and how many others are left out, and why."""
        *earlier, judge = scores.judges
        pairs = []
        left_out = Counter[str]()
        for response in scores.responses:
            if not response.labels:
                continue
            if not response.blind:
                left_out["Left out, since their labels were not given blind"] += 1
                continue
            before = None
            for name in earlier:
                before = response.scores.get(name, before)
            now = response.scores.get(judge)
            if before is None or now is None:
                left_out["Labelled rows without a score by one of the two judges"] += 1
                continue
            given = fmean(label for _, label in response.blind)
            thread = response.thread or response.prompt
            pairs.append(_Pair(abs(before - given), abs(now - given), thread))
        return pairs, left_out

    def _finding(self, pairs: Sequence[_Pair]) -> str:
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


def is_of_another_judge(path: Path, judge: Judge) -> bool:
    """Whether the first row with a score was scored by another judge, as far as it says."""
    identity = identity_of(judge)
    for row in RowFile(path).rows():
        if row.get("score") is not None:
            return any(row.get(name) != value for name, value in identity.items())
    return False
