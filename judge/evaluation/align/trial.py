"""A trial: a changed judge compared with the one in use, on labelled cases that neither has learned
from.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isnan
from statistics import fmean

from judge.evaluation.align.asking import CaseScore, CaseScores
from judge.evaluation.align.cases import LabelledCase, threads_of
from judge.evaluation.kappa import Moments, kappa_gain
from judge.evaluation.planning import to_be_seen
from judge.evaluation.stats import Interval, paired
from judge.scoring.rubric import Rubric, Scale


class Way(StrEnum):
    """The ways to change a judge, cheapest first."""

    CALIBRATION = "calibration"
    EXAMPLES = "examples"
    RUBRIC = "rubric"


@dataclass(frozen=True)
class Closeness:
    error: float  # the mean distance, in points
    within_one: float  # the share at most a point away
    kappa: float | None  # quadratic weighted; None if all scores or all labels are equal
    tokens: float | None  # the mean for a verdict; None if the server counts none


@dataclass(frozen=True)
class Change:
    case: LabelledCase
    before: int
    after: int


@dataclass(frozen=True)
class Trial:
    way: Way
    rubric: Rubric
    cases: int  # of the test part, that one of the judges scored
    threads: int
    before: Closeness  # of the judge in use
    after: Closeness
    # how much closer it is to people, in points per case; no ends if all cases are of one thread
    gain: Interval
    # by how much kappa rises, also on the cases to learn from that it has not learned from
    kappa_gain: Interval
    confidence: float  # of these intervals: 95% for the first attempt, more for each further one
    attempt: int  # on the test part, from 1
    unscored_before: int
    unscored_after: int
    changes: tuple[Change, ...]  # the largest

    @property
    def is_better(self) -> bool:
        """Whether the judge is clearly closer to people, and tells good from bad no worse; `doubt`
        says why not.
        """
        return not self.doubt

    @property
    def finding(self) -> str:
        """Whether the judge is clearly better, by how much, and how sure that is, in one sentence."""
        value, low, high = self.gain
        better = "Clearly better" if self.is_better else "Not clearly better"
        how = f"{abs(value):.2f} points {'closer to' if value >= 0 else 'farther from'} people"
        sure = "no" if low is None or high is None else f"{100 * self.confidence:.3g}%"
        ends = "" if low is None or high is None else f" {low:+.2f} to {high:+.2f}"
        return (
            f"{better}: {how} ({sure} confidence interval{ends}; {self.cases} cases, "
            f"{self.threads} threads)."
        )

    @property
    def figures(self) -> Iterator[tuple[str, str, str]]:
        """The name of each figure that is known of both judges, and its value before and after."""
        one, two = self.before, self.after
        yield "points from people", f"{one.error:.2f}", f"{two.error:.2f}"
        yield "within one point", f"{one.within_one:.0%}", f"{two.within_one:.0%}"
        if one.kappa is not None and two.kappa is not None:
            yield "agreement (weighted kappa)", f"{one.kappa:.2f}", f"{two.kappa:.2f}"
        if one.tokens is not None and two.tokens is not None and one.tokens != two.tokens:
            yield "tokens a verdict", f"{one.tokens:,.0f}", f"{two.tokens:,.0f}"
        if self.unscored_before or self.unscored_after:
            yield "unscored", str(self.unscored_before), str(self.unscored_after)

    @property
    def effect(self) -> str:
        """What a calibration does to all scores; "" if there is none."""
        if (calibration := self.rubric.calibration) is None:
            return ""
        ends = (
            f"from {calibration.score(self.rubric.scale.low)} to "
            f"{calibration.score(self.rubric.scale.high)}"
        )
        return (
            "The prompt stays. The last line maps the judge's scores to people's: all will be "
            f"{ends}."
        )

    @property
    def doubt(self) -> str:
        """Why the changed judge is not clearly better; "" if it is.

        Distance is not enough: a judge that always gives the middle of the scale is closer than one
        that guesses.
        """
        if (self.gain.low or 0) <= 0:
            seen = to_be_seen(self.gain, (1 - self.confidence) / 2, self.threads)
            hint = f" A gain of {seen:.1f} points would show in 4 of 5 such tests." if seen else ""
            return f"The scores are not clearly closer to people's.{hint}"
        if (self.kappa_gain.low or 0) <= 0:
            return (
                "The scores are closer to people's, but do not clearly tell good from bad "
                "better (weighted kappa)."
            )
        return ""


def tail_of(attempt: int) -> float:
    """The error probability at each end of an attempt's interval: 2.5%, 0.83%, 0.42%, ...; the sum
    over all is 5%.
    """
    return 0.05 / (attempt * (attempt + 1))


Row = tuple[LabelledCase, CaseScore, CaseScore]
"""A case with the scores by the judge in use and by the changed one."""


def compare(
    cases: Sequence[LabelledCase], before: CaseScores, after: CaseScores, scale: Scale, tail: float
) -> tuple[Interval, Sequence[Row]] | None:
    """How much closer `after` is to people on the cases that one of the two scored, and these; None
    without any.

    A case without a score counts as far from people as the scale allows, so that leaving out hard
    ones is no gain.
    """
    rows = [
        (each, before[each.id], after[each.id])
        for each in cases
        if each.id in before and each.id in after
    ]
    rows = [row for row in rows if any(each.score is not None for each in row[1:])]
    nearer = (
        (_distance(one, each, scale) - _distance(two, each, scale), each.thread)
        for each, one, two in rows
    )
    return (gain, rows) if (gain := paired(nearer, scale, tail)) else None


def _scored(rows: Iterable[Row]) -> Sequence[Row]:
    return [row for row in rows if all(each.score is not None for each in row[1:])]


def to_trial(
    way: Way,
    rubric: Rubric,
    cases: Sequence[LabelledCase],
    before: CaseScores,
    after: CaseScores,
    attempt: int,
    learned: tuple[Sequence[LabelledCase], CaseScores, CaseScores] = ((), {}, {}),
) -> Trial | None:
    """The trial from the scores by both judges; None if no case has both.

    `learned` are the cases to learn from, with the scores by both judges of those that the change
    has not learned from. They show, too, how well it tells good from bad.
    """
    tail = tail_of(attempt)
    found = compare(cases, before, after, rubric.scale, tail)
    if found is None or not (rows := _scored(found[1])):
        return None
    more = compare(*learned, rubric.scale, tail)
    both = [*rows, *_scored(more[1] if more else ())]
    moments = defaultdict[str, list[tuple[Moments, Moments]]](list)
    for each, *scores in both:
        one, two = (Moments.of([(score.score or 0, each.label)]) for score in scores)
        moments[each.thread].append((one, two))
    labelled = [each for each, *_ in rows]
    changes = [
        Change(each, one.score or 0, two.score or 0)
        for each, one, two in rows
        if one.score != two.score
    ]
    changes.sort(key=lambda each: (-abs(each.after - each.before), each.case.id))
    return Trial(
        way=way,
        rubric=rubric,
        cases=len(found[1]),
        threads=len(threads_of(each for each, *_ in found[1])),
        before=_agreement(labelled, [one for _, one, _ in rows]),
        after=_agreement(labelled, [two for *_, two in rows]),
        gain=found[0],
        kappa_gain=kappa_gain(moments.values(), tail),
        confidence=1 - 2 * tail,
        attempt=attempt,
        unscored_before=_unscored(cases, before),
        unscored_after=_unscored(cases, after),
        changes=tuple(changes[:3]),
    )


def _agreement(cases: Sequence[LabelledCase], scores: Sequence[CaseScore]) -> Closeness:
    pairs = [
        (float(score.score or 0), case.label) for case, score in zip(cases, scores, strict=True)
    ]
    distances = [abs(score - label) for score, label in pairs]
    kappa, tokens = (
        Moments.of(pairs).kappa,
        [each.tokens for each in scores if each.tokens is not None],
    )
    return Closeness(
        error=fmean(distances),
        within_one=fmean(each <= 1 for each in distances),
        kappa=None if isnan(kappa) else kappa,
        tokens=fmean(tokens) if tokens else None,
    )


def _distance(scored: CaseScore, case: LabelledCase, scale: Scale) -> float:
    return max(
        abs(each - case.label) for each in (scale if scored.score is None else [scored.score])
    )


def _unscored(cases: Sequence[LabelledCase], scores: CaseScores) -> int:
    return sum(each.id in scores and scores[each.id].score is None for each in cases)
