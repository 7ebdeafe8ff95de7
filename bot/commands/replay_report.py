"""The result of a replay: the old and the new judge compared on the same cases."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from bot.errors import BotError
from bot.store.export import Replayable
from judge.evaluation.stats import Interval, MeanEstimator, paired_difference
from judge.rows.files import decode, read_lines
from judge.scoring.rubric import Scale

if TYPE_CHECKING:
    from judge.evaluation.agreement.report import Difference

MIN_LABELLED = 20
MOST_UNSCORED = 0.1
"""The largest share of labelled cases that the new judge may leave unscored to count as no worse."""
WORST_KAPPA = -0.1
"""The lowest difference of the weighted kappas, at the low end of its interval, to count as no worse."""

_BEFORE, _NOW = "before", "now"
_MOST_CHANGED = 10
_NAMES = {
    "quadratic_weighted_kappa": "Weighted kappa with people",
    "exact_match": "Same score as people",
    "within_one": "Within one point",
    "mean_error": "Mean above people's",
}
_SHARES = {"exact_match", "within_one"}


@dataclass(frozen=True)
class ReplayComparison:
    """The old and the new judge on the same cases.

    Attributes:
        scored: The cases that also have a new score, with that score.
        shift: The change of the mean.
        labelled: How many of these cases have a label.
        unscored: How many labelled cases have no new score.
        difference: The difference of the two judges' agreement with people; None without labels.
    """

    scored: Sequence[tuple[Replayable, int]]
    shift: Interval | None
    labelled: int
    unscored: int
    difference: "Difference | None"

    @property
    def doubt(self) -> str:
        """Why it is not shown that the new judge is no worse than the old one; empty if it is shown."""
        if self.labelled < MIN_LABELLED or self.difference is None:
            return f"only {self.labelled} of these cases have a label; at least {MIN_LABELLED} are needed"
        wanted = self.labelled + self.unscored
        if self.unscored > MOST_UNSCORED * wanted:
            return f"of {wanted} cases with a label it left {self.unscored} without a score"
        kappa = self.difference.estimates["quadratic_weighted_kappa"]
        low = kappa.low
        if low != low:
            return f"the difference of the kappas has no interval ({kappa.note})"
        if low < WORST_KAPPA:
            return f"its kappa may be lower by {-low:.2f}, and {-WORST_KAPPA:.2f} would be allowed"
        return ""


def require_agreement() -> None:
    """Raises BotError if a library of the comparison is missing, before anything is paid for."""
    missing = [name for name in ("numpy", "scipy") if find_spec(name) is None]
    if missing:
        raise BotError(f"replay needs {missing[0]}: pip install 'slack-judge[agreement]'")


def scores_of(path: Path, cases: Sequence[Replayable]) -> Mapping[int, int | None]:
    """The scores in the file of a replay, by case, for those of `cases` that it has; None is unscored.

    Raises BotError if a case in the file is a different one in this store.
    """
    known, scores = {case.id: case for case in cases}, {}
    for row in (decode(raw) for _, raw in read_lines(path)):
        if (case := known.get(row["line"])) is None:
            continue
        if (row.get("prompt_id"), row.get("score_before")) != (case.question_hash, case.score):
            raise BotError(f"{path}: case {case.id} is another one in this database; choose another output")
        scores[case.id] = row["score"]
    return scores


def compare(path: Path, cases: Sequence[Replayable], scale: Scale) -> ReplayComparison:
    """Compares the scores of these cases with those in the file of a replay, using their current labels."""
    from judge.evaluation.agreement.report import find_differences
    from judge.evaluation.agreement.scores import Response, Scores

    scores = scores_of(path, cases)
    scored = [(case, now) for case in cases if (now := scores.get(case.id)) is not None]
    width = scale.high - scale.low
    shift = MeanEstimator(Scale(-width, width))
    for case, now in scored:
        shift.add(now - case.score)
    responses = [
        Response(
            prompt=case.question_hash or str(case.id),
            scores={_BEFORE: case.score, _NOW: now},
            labels=tuple(float(label) for label in case.human),
        )
        for case, now in scored
        if case.human
    ]
    unscored = sum(bool(case.human) for case in cases) - len(responses)
    found = find_differences(Scores(tuple(responses), (_NOW, _BEFORE), scale, (), 0)) if responses else []
    estimate, difference = shift.estimate(), next(iter(found), None)
    change = paired_difference(estimate) if estimate else None
    return ReplayComparison(scored, change, len(responses), unscored, difference)


def to_sentences(before: str, now: str, comparison: ReplayComparison) -> Iterator[str]:
    """The comparison in words, one paragraph each."""
    yield f"Before: {before}. Now: {now}."
    if comparison.shift is None:
        yield "No case has a score now, so there is nothing to compare."
        return
    n = len(comparison.scored)
    before_mean = fmean(case.score for case, _ in comparison.scored)
    now_mean = fmean(now for _, now in comparison.scored)
    shift = _signed(*comparison.shift, form="+.2f")
    yield f"Mean score of {n:,} cases: {before_mean:.2f} before, {now_mean:.2f} now, {shift}."
    if difference := comparison.difference:
        for name, shown in _NAMES.items():
            form, estimate = ".0%" if name in _SHARES else ".2f", difference.estimates[name]
            after, was = difference.values[name]
            change = _signed(estimate.value, estimate.low, estimate.high, form=f"+{form}")
            yield f"{shown} ({comparison.labelled:,} labelled): {was:{form}} before, {after:{form}} now, {change}."
    doubt = comparison.doubt
    yield (
        f"Not enough to say that the new judge is at least as good: {doubt}."
        if doubt
        else "The new judge is no worse than the old one."
    )
    changed = sorted(comparison.scored, key=lambda each: (-abs(each[1] - each[0].score), each[0].id))
    lines = [_to_line(case, now) for case, now in changed[:_MOST_CHANGED] if now != case.score]
    if lines:
        yield f"Changed most: {'; '.join(lines)}."


def _signed(value: float, low: float | None, high: float | None, *, form: str) -> str:
    if low is None or high is None or low != low:
        return f"{value:{form}}, too few for a range"
    return f"{value:{form}} (between {low:{form}} and {high:{form}})"


def _to_line(case: Replayable, now: int) -> str:
    people = f", people {' and '.join(map(str, case.human))}" if case.human else ""
    return f"case {case.id} from {case.score} to {now}{people}"
