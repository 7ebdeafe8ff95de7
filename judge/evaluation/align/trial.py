"""A trial: a changed judge compared with the one in use, on labelled cases that neither has learned from."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import atanh, isnan, sqrt
from statistics import NormalDist, StatisticsError, correlation, fmean

from judge.evaluation.align.asking import CaseScore, CaseScores, mean_tokens
from judge.evaluation.align.cases import LabelledCase, threads_of
from judge.evaluation.kappa import Moments
from judge.evaluation.stats import Interval, paired
from judge.scoring.rubric import Rubric, Scale

_ERROR = 0.05
_MOST_CHANGES = 3
_NEWLY_UNSCORED = 0.1
_FREE, _ALMOST_ONE = 3, 1 - 1e-9


class Way(StrEnum):
    """The ways to change a judge, cheapest first."""

    CALIBRATION = "calibration"
    EXAMPLES = "examples"
    RUBRIC = "rubric"


@dataclass(frozen=True)
class Closeness:
    """How close scores are to people's labels."""

    error: float  # the mean distance, in points
    within_one: float  # the share at most a point away
    kappa: float | None  # quadratic weighted; None if all scores or all labels are equal
    is_informative: bool  # whether higher scores clearly go with higher labels, see `_is_correlated`
    tokens: float | None  # the mean for a verdict; None if the server counts none


@dataclass(frozen=True)
class Change:
    """A case whose score changes."""

    case: LabelledCase
    before: int
    after: int


@dataclass(frozen=True)
class Trial:
    """The result of a changed judge on the test part."""

    way: Way
    rubric: Rubric
    cases: int  # that both judges scored
    threads: int
    before: Closeness  # of the judge in use
    after: Closeness
    gain: Interval  # how much closer it is to people, in points per case; no ends if all cases are of one thread
    confidence: float  # of that interval: 95% for the first attempt, more for each further one
    attempt: int  # on the test part, from 1
    unscored_before: int
    unscored_after: int
    changes: tuple[Change, ...]  # the largest

    @property
    def is_better(self) -> bool:
        """Whether the judge is clearly closer to people, and tells good from bad no worse; `doubt` says why not."""
        return not self.doubt

    @property
    def finding(self) -> str:
        """Whether the judge is clearly better, by how much, and how sure that is, in one sentence."""
        value, low, high = self.gain
        better = "Clearly better" if self.is_better else "Not clearly better"
        how = f"{abs(value):.2f} points {'closer to' if value >= 0 else 'farther from'} people"
        sure = "no" if low is None or high is None else f"{100 * self.confidence:.3g}%"
        ends = "" if low is None or high is None else f" {low:+.2f} to {high:+.2f}"
        return f"{better}: {how} ({sure} confidence interval{ends}; {self.cases} cases, {self.threads} threads)."

    @property
    def effect(self) -> str:
        """What a calibration does to all scores; "" if there is none."""
        if (calibration := self.rubric.calibration) is None:
            return ""
        ends = f"from {calibration.score(self.rubric.scale.low)} to {calibration.score(self.rubric.scale.high)}"
        return f"The prompt stays. The last line maps the judge's scores to people's: all will be {ends}."

    @property
    def doubt(self) -> str:
        """Why the changed judge is not clearly better; "" if it is.

        Distance is not enough: a judge that always gives the middle of the scale is closer than one that guesses.
        """
        if (self.gain.low or 0) <= 0:
            return "The scores are not clearly closer to people's."
        if self.unscored_after - self.unscored_before > _NEWLY_UNSCORED * (self.cases + self.unscored_after):
            return "It leaves more than a tenth of the cases newly unscored."
        if not self.after.is_informative:
            return "The scores are closer to people's, but do not clearly tell good from bad."
        if (self.after.kappa or 0) < (self.before.kappa or 0):
            return "The scores are closer to people's, but tell good from bad less well (weighted kappa)."
        return ""


def tail_of(attempt: int) -> float:
    """The error probability at each end of an attempt's interval: 2.5%, 0.83%, 0.42%, ...; the sum over all is 5%."""
    return _ERROR / (attempt * (attempt + 1))


def compare(
    cases: Sequence[LabelledCase], before: CaseScores, after: CaseScores, scale: Scale, tail: float
) -> tuple[Interval, Sequence[tuple[LabelledCase, CaseScore, CaseScore]]] | None:
    """How much closer `after` is to people on the cases that both scored, and these cases; None if there are none."""
    rows = []
    for each in cases:
        one, two = before.get(each.id), after.get(each.id)
        if one and two and one.score is not None and two.score is not None:
            rows.append((each, one, two))
    nearer = ((_distance(one, each) - _distance(two, each), each.thread) for each, one, two in rows)
    return (gain, rows) if (gain := paired(nearer, scale, tail)) else None


def to_trial(
    way: Way, rubric: Rubric, cases: Sequence[LabelledCase], before: CaseScores, after: CaseScores, attempt: int
) -> Trial | None:
    """The trial from the scores by both judges; None if no case has both."""
    tail = tail_of(attempt)
    found = compare(cases, before, after, rubric.scale, tail)
    if found is None:
        return None
    gain, rows = found
    labelled = [each for each, *_ in rows]
    changes = [
        Change(each, one.score, two.score)
        for each, one, two in rows
        if one.score is not None and two.score is not None and one.score != two.score
    ]
    changes.sort(key=lambda each: (-abs(each.after - each.before), each.case.id))
    return Trial(
        way=way,
        rubric=rubric,
        cases=len(rows),
        threads=len(threads_of(labelled)),
        before=_agreement(labelled, [one for _, one, _ in rows]),
        after=_agreement(labelled, [two for *_, two in rows]),
        gain=gain,
        confidence=1 - 2 * tail,
        attempt=attempt,
        unscored_before=_unscored(cases, before),
        unscored_after=_unscored(cases, after),
        changes=tuple(changes[:_MOST_CHANGES]),
    )


def _agreement(cases: Sequence[LabelledCase], scores: Sequence[CaseScore]) -> Closeness:
    pairs = [(float(score.score or 0), case.label) for case, score in zip(cases, scores, strict=True)]
    distances = [abs(score - label) for score, label in pairs]
    kappa = Moments.of(pairs).kappa
    return Closeness(
        error=fmean(distances),
        within_one=fmean(each <= 1 for each in distances),
        kappa=None if isnan(kappa) else kappa,
        is_informative=_is_correlated(pairs, len(threads_of(cases))),
        tokens=mean_tokens(scores),
    )


def _is_correlated(pairs: Sequence[tuple[float, float]], n: int) -> bool:
    """Whether the 95% interval of the correlation, with `n` threads, is above 0. Source: Fisher (1915)."""
    try:
        r = correlation(*zip(*pairs, strict=True))
    except StatisticsError:  # one score or one label throughout
        return False
    if n <= _FREE or r <= 0:
        return False
    return atanh(min(r, _ALMOST_ONE)) > NormalDist().inv_cdf(1 - tail_of(1)) / sqrt(n - _FREE)


def _distance(scored: CaseScore, case: LabelledCase) -> float:
    return abs((scored.score or 0) - case.label)


def _unscored(cases: Sequence[LabelledCase], scores: CaseScores) -> int:
    return sum(each.id in scores and scores[each.id].score is None for each in cases)
