"""Whether an assistant has become clearly worse than it was: a test that may be looked at after each score.

    find_drop(reference, recent, Scale(0, 5))           # a Drop, NotEnough, or None
    find_below(3.5, reference, recent, Scale(0, 5))     # the same against a floor that somebody wished for

`reference` are the scores of the four weeks before the last seven days, `recent` those of the last seven days, or
since the last alert where that was later, both in the order of time. Nothing is kept between calls: the same scores
give the same answer, in each process and after each restart.

The test is an e-detector (Shiryaev-Roberts). Each recent score gives an e-value: a bet against "the mean is still no
lower than m", which multiplies what was staked by 1 + bet * (m - score). One unit is staked on each reply as the one
with which the drop began, so the evidence grows as (evidence + 1) * e-value. While the mean is no lower than m, the
evidence takes at least as many replies to reach the threshold, on average, as the threshold says (the average run
length), however the scores are distributed and however often somebody looks.

Source: Shin, Ramdas, Rinaldo, "E-detectors" (arXiv 2203.03532); Waudby-Smith, Ramdas, "Estimating means of bounded
random variables by betting" (arXiv 2010.09686), for the bet. docs/measurements.md has the figures.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import log, sqrt
from statistics import fmean
from sys import float_info
from typing import Literal, NamedTuple

from judge.rubric import Scale

MIN_REFERENCE = 30
"""With fewer scores in the reference nothing is said of a drop."""
MARGIN = 0.04
"""How much lower than the reference's the mean must be, as a part of the scale: 0.2 of 0 to 5, 4 percentage points."""
_BET_ON = 0.12
_MOST_LOST = 0.5
_SURE = 1.645
_DAYS = 28
_QUARTER = 90
_KINDS = 2

Kind = Literal["mean", "low share", "floor"]


class Level(NamedTuple):
    """Scores in two figures: their mean, and the share below the scale's middle (0 to 2 of 0 to 5)."""

    mean: float
    low_share: float


@dataclass(frozen=True)
class Drop:
    """The recent scores are lower, and chance is no explanation.

    Attributes:
        kind: What shows it most clearly: the mean, the share of low scores, or the mean against a floor.
        since: The index in `recent` at which it most likely began; all before it are taken as no part of it.
        before: The reference.
        after: The recent scores from `since` on. It was chosen for being low, so it looks somewhat worse than it is.
        evidence: The value of the e-detector, at least `threshold`.
        threshold: How many replies lie between two false alarms of this kind, at least and on average.
    """

    kind: Kind
    since: int
    before: Level
    after: Level
    evidence: float
    threshold: float


@dataclass(frozen=True)
class NotEnough:
    """The reference is too small to compare with: so many scores are there, so many are needed."""

    scores: int
    needed: int


def find_drop(reference: Sequence[int], recent: Sequence[int], scale: Scale) -> Drop | NotEnough | None:
    """A drop of the mean, or a rise of the share of low scores, against the reference; None where there is none.

    With independent scores and four weeks of reference, false alarms are at most one in 90 days on average, both kinds
    together, and far fewer while nothing has changed: what is tested is a mean that is lower by `MARGIN`, or by what
    the reference itself leaves open if that is more. Threads and weekends take some of that reserve.

    Args:
        reference: Scores of the four weeks before the last seven days, in the order of time. Fewer days are welcome.
        recent: Scores of the last seven days, or since the last alert where that was later, in the order of time.
        scale: Lowest and highest score, both included.

    Raises:
        ValueError: A score that is no whole number on the scale.
    """
    _check(reference, recent, scale)
    if len(reference) < MIN_REFERENCE:
        return NotEnough(len(reference), MIN_REFERENCE)
    drops = [_weigh(test, reference, recent, scale) for test in _tests_of_drop(reference, scale)]
    return max(filter(None, drops), key=lambda drop: drop.evidence, default=None)


def find_below(floor: float, reference: Sequence[int], recent: Sequence[int], scale: Scale) -> Drop | NotEnough | None:
    """The mean is below the floor, however it was before; None while nothing shows that.

    The reference says here only how far scores spread, and how many replies there are in 90 days: while the mean is
    the floor itself, or higher, there is at most one false alarm in that time on average.

    Args:
        floor: The lowest mean that is wished for, between the ends of the scale.
        reference: As for `find_drop`.
        recent: As for `find_drop`.
        scale: Lowest and highest score, both included.

    Raises:
        ValueError: A score that is no whole number on the scale, or a floor that is not between its ends.
    """
    _check(reference, recent, scale)
    if not scale.low < floor < scale.high:
        raise ValueError(f"floor {floor:g} is not between the ends of the scale, {scale.low} and {scale.high}")
    if len(reference) < MIN_REFERENCE:
        return NotEnough(len(reference), MIN_REFERENCE)
    return _weigh(_test_of_floor(floor, reference, scale), reference, recent, scale)


def _check(reference: Sequence[int], recent: Sequence[int], scale: Scale) -> None:
    strays = {*reference, *recent}.difference(_heights(scale))
    if strays:
        raise ValueError(f"score {strays.pop()} is no whole number from {scale.low} to {scale.high}")


class _Test(NamedTuple):
    kind: Kind
    e_values: Mapping[int, float]


def _tests_of_drop(reference: Sequence[int], scale: Scale) -> Iterator[_Test]:
    kinds: tuple[tuple[Kind, dict[int, float]], ...] = (("mean", _heights(scale)), ("low share", _not_low(scale)))
    for kind, values in kinds:
        mean, lowest_mean, variance = _measure(values, reference)
        yield _Test(kind, _e_values(values, min(mean - MARGIN, lowest_mean), variance))


def _test_of_floor(floor: float, reference: Sequence[int], scale: Scale) -> _Test:
    heights = _heights(scale)
    null = (floor - scale.low) / (scale.high - scale.low)
    return _Test("floor", _e_values(heights, null, _measure(heights, reference)[2]))


def _heights(scale: Scale) -> dict[int, float]:
    return {score: (score - scale.low) / (scale.high - scale.low) for score in range(scale.low, scale.high + 1)}


def _not_low(scale: Scale) -> dict[int, float]:
    return {score: float(height >= 0.5) for score, height in _heights(scale).items()}


def _measure(values: Mapping[int, float], reference: Sequence[int]) -> tuple[float, float, float]:
    """The mean of the reference's values, how low it may be in truth (95%, one-sided), and their variance.

    One value of 0 is added for the last two: a few equal scores do not prove that there are no others.
    """
    n, counts = len(reference), Counter(reference)
    total = sum(number * values[score] for score, number in counts.items())
    squares = sum(number * values[score] ** 2 for score, number in counts.items())
    mean = total / (n + 1)
    variance = squares / (n + 1) - mean**2
    return total / n, mean - _SURE * sqrt(variance / (n + 1)), variance


def _e_values(values: Mapping[int, float], null: float, variance: float) -> dict[int, float]:
    """The e-value of each score against "the mean is at least `null`", for values from 0 to 1.

    The bet is the one with which the evidence grows fastest where the mean is lower than that by 0.12 of the scale (0.6
    of 0 to 5), but so small that no single score takes away more than half of the evidence.
    """
    bet = min(_BET_ON / (variance + _BET_ON**2), _MOST_LOST / (1 - null))
    return {score: 1 + bet * (null - value) for score, value in values.items()}


def _threshold(reference: Sequence[int]) -> float:
    return _KINDS * _QUARTER / _DAYS * len(reference)


def _evidence(recent: Sequence[int], test: _Test) -> Iterator[float]:
    e_values = map(test.e_values.__getitem__, recent)
    return accumulate(e_values, lambda evidence, e_value: (evidence + 1) * e_value, initial=0.0)


def _weigh(test: _Test, reference: Sequence[int], recent: Sequence[int], scale: Scale) -> Drop | None:
    *_, evidence = _evidence(recent, test)
    threshold = _threshold(reference)
    if evidence < threshold:
        return None
    # It began where the e-values from then on multiply to the most.
    sums = list(accumulate((log(test.e_values[score]) for score in recent), initial=0.0))
    since = min(range(len(recent)), key=sums.__getitem__)
    is_high = _not_low(scale)
    before, after = (
        Level(fmean(scores), 1 - fmean(is_high[score] for score in scores)) for scores in (reference, recent[since:])
    )
    return Drop(test.kind, since, before, after, min(evidence, float_info.max), threshold)
