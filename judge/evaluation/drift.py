"""Tests whether an assistant has become clearly worse; the test may be repeated after each score.

    reference = [DatedScore(4, date(2026, 11, 2), thread="1"), ...]     # the four weeks before the last seven days
    recent = [DatedScore(3, date(2026, 11, 30)), ...]                   # the last seven days, or since the last alert
    find_drop(reference, recent, Scale(0, 5))                       # a Drop, or None
    find_below(3.5, reference, recent, Scale(0, 5))                 # the same against a chosen floor

No state is kept between calls: the same scores give the same answer. The test is an e-detector
(Shiryaev-Roberts) over likelihood ratios. The reference's distribution is tilted exponentially,
once to the lowest mean that still counts as unchanged, and once to a mean that is lower by a bet; a
score's e-value is the ratio of the two. One unit is bet on each reply being the first of the drop,
so the evidence grows as (evidence + 1) * e-value. It is averaged over three bets on each of two
figures, the mean and the share of low scores.

Three effects that look like a drop are corrected. Differences between weekdays are removed by
empirical Bayes. Scores that depend on each other within a thread or a day count for less: their
e-value is raised to the power 1 / V, where V is how much more their sums vary than those of
independent scores. The reference's own error lowers the mean that counts as unchanged.

Source: Shin, Ramdas, Rinaldo, "E-detectors" (arXiv 2203.03532); Lorden (1971), Annals of
Mathematical Statistics 42(6), for likelihood ratios; Efron and Morris (1973), JASA 68(341), for the
weekdays; Kish (1965) for V; Newey and West (1987), Econometrica 55(3), for days that resemble the
day before. The threshold is calibrated by simulation: docs/measurements.md has the figures, `python
-m bench.drift` prints them.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import accumulate, pairwise
from math import exp, log, sqrt
from statistics import fmean
from sys import float_info
from typing import Literal, NamedTuple

from judge.scoring.rubric import Scale

MIN_REFERENCE = 30
"""With fewer scores in the reference, no drop is reported."""
MARGIN = 0.02
"""How far the mean must be below the reference's, as a share of the scale: 0.1 points on a scale from 0 to 5."""
_BETS = (0.04, 0.08, 0.16)
_SURE = 1.0  # standard errors of the reference's mean that count as unchanged
# thresholds relative to the replies in 90 days, from simulation
_SHARE = 0.5
_SHARE_OF_FLOOR = 1.5
_QUARTER = 90
_DAYS = 28
_WEEKDAYS = 7
_MIN_DAYS = 14  # with fewer days, a weekday occurs only once
_SMOOTHING = 0.02  # added to the count of each score, so that none is impossible
_LEAST = 0.01  # a mean below this share of the scale can hardly drop further
_DECIMALS = 9  # of sums of deviations; those beyond are rounding errors, whose ratios mean nothing

Kind = Literal["mean", "low share", "floor", "rise"]


class DatedScore(NamedTuple):
    """A score, its day, and its thread or whatever else links it to other scores; None if it is
    independent.
    """

    score: int
    day: date
    thread: Hashable = None


class Level(NamedTuple):
    """Two figures of scores: their mean, and the share below the scale's middle (0 to 2 on a scale
    from 0 to 5).
    """

    mean: float
    low_share: float


@dataclass(frozen=True)
class Drop:
    """The recent scores are lower than chance explains.

    Attributes:
        kind: The figure that shows it most clearly: the mean, the share of low scores, or the mean
            against a floor. "rise" if it is the reverse of a drop.
        since: The index in `recent` at which it most likely began; earlier scores are not part of
            it.
        before: The level of the reference.
        after: The level of the recent scores from `since` on. `since` was chosen for low scores, so
            the level looks somewhat worse than it is.
        evidence: The value of the e-detector, at least `threshold`.
        threshold: The value that the evidence reaches at most about once in 90 days if nothing
            changes.
    """

    kind: Kind
    since: int
    before: Level
    after: Level
    evidence: float
    threshold: float


def find_drop(
    reference: Sequence[DatedScore], recent: Sequence[DatedScore], scale: Scale
) -> Drop | None:
    """A drop of the mean, or a rise of the share of low scores, against the reference; None if
    there is none.

    Args:
        reference: Scores of the four weeks before the last seven days, in order of time. Fewer days
            are allowed.
        recent: Scores of the last seven days, or since the last alert if that was later, in order
            of time.
    """
    return _find(_tests_of_drop(reference, scale), _SHARE, reference, recent, scale)


def find_rise(
    reference: Sequence[DatedScore], recent: Sequence[DatedScore], scale: Scale
) -> Drop | None:
    """The reverse of a drop: `find_drop` on the scale turned round, so with as many false alarms."""
    both = reference, recent
    before, after = (
        [each._replace(score=scale.low + scale.high - each.score) for each in of] for of in both
    )
    if (found := find_drop(before, after, scale)) is None:
        return None
    return replace(
        found,
        kind="rise",
        before=_level(reference, scale),
        after=_level(recent[found.since :], scale),
    )


def find_below(
    floor: float, reference: Sequence[DatedScore], recent: Sequence[DatedScore], scale: Scale
) -> Drop | None:
    """A mean clearly below the floor, which is on the scale, whatever it was before; None if
    nothing shows that.

    The reference only tells how scores vary and depend on each other, and how many there are in 90
    days.
    """
    return _find(
        _tests_of_floor(floor, reference, scale), _SHARE_OF_FLOOR, reference, recent, scale
    )


def _heights(scale: Scale) -> dict[int, float]:
    return {
        score: (score - scale.low) / (scale.high - scale.low)
        for score in range(scale.low, scale.high + 1)
    }


def _not_low(scale: Scale) -> dict[int, float]:
    return {score: float(height >= 0.5) for score, height in _heights(scale).items()}


class _Habits(NamedTuple):
    """What the reference tells about a figure, as shares of the scale."""

    # with one lowest score added, because a few good scores do not prove that there are no low ones
    mean: float
    error: float  # the standard error of that mean
    weekdays: Sequence[float]  # how far each weekday's level is from the mean, Monday first
    inflation: float  # V, at least 1


def _learn(values: Mapping[int, float], reference: Sequence[DatedScore]) -> _Habits:
    n = len(reference)
    mean = sum(values[each.score] for each in reference) / n
    weekdays = _weekdays([(each.day, values[each.score] - mean) for each in reference])
    rests = [values[score] - mean - weekdays[day.weekday()] for score, day, _ in reference]
    inflation = _inflation(reference, rests, mean)
    below = mean * n / (n + 1)
    variance = (sum(rest * rest for rest in rests) + below * below) / (n + 1)
    return _Habits(below, sqrt(variance * inflation / n), weekdays, inflation)


def _weekdays(rests: Sequence[tuple[date, float]]) -> Sequence[float]:
    """How far each weekday is from the mean, without the part that chance explains (James and
    Stein).
    """
    days: dict[date, list[float]] = defaultdict(list)
    for day, rest in rests:
        days[day].append(rest)
    if len(days) < _MIN_DAYS:
        return [0.0] * _WEEKDAYS
    means: list[list[float]] = [[] for _ in range(_WEEKDAYS)]
    for day, each in days.items():
        means[day.weekday()].append(fmean(each))
    levels = [fmean(each) if each else 0.0 for each in means]
    left = sum(
        (mean - level) ** 2 for level, each in zip(levels, means, strict=True) for mean in each
    )
    noise = left / (len(days) - _WEEKDAYS)
    found = sum(len(each) * level**2 for level, each in zip(levels, means, strict=True))
    share = max(1 - (_WEEKDAYS - 3) * noise / found, 0.0) if found else 0.0
    return [share * level for level in levels]


def _inflation(reference: Sequence[DatedScore], rests: Sequence[float], mean: float) -> float:
    """V, the larger of that within threads and that across days; `rests` are deviations from the
    mean.
    """
    threads = defaultdict[Hashable, list[float]](list)
    days = defaultdict[date, list[float]](list)
    for i, ((_, day, thread), rest) in enumerate(zip(reference, rests, strict=True)):
        threads[(i, thread) if thread is None else thread].append(rest)
        days[day].append(rest)
    squares = round(sum(rest * rest for rest in rests), _DECIMALS)
    if not squares or not mean:
        return 1.0
    # One thread of lowest scores is added here too, as long as the thread that a score is in on
    # average.
    size = sum(len(each) ** 2 for each in threads.values()) / len(rests)
    lowest = mean * mean
    sums = sum(sum(each) ** 2 for each in threads.values())
    within = max((sums + size * size * lowest) / (squares + size * lowest), 1.0)
    # Only changes from each day to the next, so that a lasting change within the reference does not
    # count. With few days these vary by chance, so what is within one standard error does not count
    # either.
    levels = [round(sum(each) / sqrt(len(each)), _DECIMALS) for each in days.values()]
    jumps = [(b - a) ** 2 / 2 for a, b in pairwise(levels)]
    if not jumps:
        return within
    fitted = _WEEKDAYS if len(days) >= _MIN_DAYS else 1
    across = fmean(jumps) * len(rests) / squares * len(days) / (len(days) - fitted)
    # If days resemble the day before, sums over several days vary more than independent days do.
    alike = sum(a * b for a, b in pairwise(levels)) / (sum(level * level for level in levels) or 1)
    found = max(within, across / (1 + sqrt(3 / len(jumps))))
    return found * (1 + 2 * max(alike, 0.0)) if len(days) >= _MIN_DAYS else found


class _Test(NamedTuple):
    kind: Kind
    e_values: Sequence[Mapping[int, float]]  # by weekday, the e-value of each score


def _tests_of_drop(reference: Sequence[DatedScore], scale: Scale) -> Iterator[_Test]:
    kinds: tuple[tuple[Kind, dict[int, float]], ...] = (
        ("mean", _heights(scale)),
        ("low share", _not_low(scale)),
    )
    for kind, values in kinds:
        habits = _learn(values, reference)
        null = min(
            fmean(values[each.score] for each in reference) - MARGIN,
            habits.mean - _SURE * habits.error,
        )
        yield from _bets(kind, values, null, habits, reference)


def _tests_of_floor(floor: float, reference: Sequence[DatedScore], scale: Scale) -> Iterator[_Test]:
    heights = _heights(scale)
    null = (floor - scale.low) / (scale.high - scale.low)
    yield from _bets("floor", heights, null, _learn(heights, reference), reference)


def _bets(
    kind: Kind,
    values: Mapping[int, float],
    null: float,
    habits: _Habits,
    reference: Sequence[DatedScore],
) -> Iterator[_Test]:
    """Tests of "the mean of the values is at least `null`"; none if the mean could hardly be lower."""
    if null < _LEAST:
        return
    counts = Counter(each.score for each in reference)
    counts[min(values)] += 1
    shape = [(value, counts[score] + _SMOOTHING) for score, value in values.items()]
    before, normal = _tilt(shape, min(null, 1 - _LEAST / 2))
    for bet in _BETS:
        after, lower = _tilt(shape, max(null - bet, null / 10))
        times = (after - before) / habits.inflation
        less = (lower - normal) / habits.inflation
        by_weekday = [
            {score: exp(times * (value - level) - less) for score, value in values.items()}
            for level in habits.weekdays
        ]
        yield _Test(kind, by_weekday)


def _tilt(shape: Sequence[tuple[float, float]], mean: float) -> tuple[float, float]:
    """The exponent t for which weights times exp(t * value) have this mean, and the logarithm of
    their sum.
    """
    low = -60.0
    high = 60.0
    for _ in range(50):
        middle = (low + high) / 2
        tilted = [(value, weight * exp(middle * (value - 0.5))) for value, weight in shape]
        is_above = sum(value * weight for value, weight in tilted) > mean * sum(
            weight for _, weight in tilted
        )
        low, high = (low, middle) if is_above else (middle, high)
    return low, log(sum(weight * exp(low * (value - 0.5)) for value, weight in shape)) + low / 2


def _evidence(recent: Sequence[DatedScore], tests: Sequence[_Test]) -> Iterator[Sequence[float]]:
    """The evidence of each test after each score."""
    evidence: Sequence[float] = [0.0] * len(tests)
    for score, day, _ in recent:
        weekday = day.weekday()
        evidence = [
            (each + 1) * test.e_values[weekday][score]
            for each, test in zip(evidence, tests, strict=True)
        ]
        yield evidence


def _threshold(share: float, reference: Sequence[DatedScore]) -> float:
    days = min((reference[-1].day - reference[0].day).days + 1, _DAYS)
    return share * _QUARTER / days * len(reference)


def _find(
    weighed: Iterator[_Test],
    share: float,
    reference: Sequence[DatedScore],
    recent: Sequence[DatedScore],
    scale: Scale,
) -> Drop | None:
    if len(reference) < MIN_REFERENCE:
        return None
    tests = list(weighed)
    threshold = _threshold(share, reference)
    ends = deque(_evidence(recent, tests), maxlen=1)
    if not ends or not tests or (evidence := fmean(ends[0])) < threshold:
        return None
    clearest = tests[ends[0].index(max(ends[0]))]
    # The drop began where the product of all later e-values is largest.
    sums = list(
        accumulate(
            (log(clearest.e_values[day.weekday()][score]) for score, day, _ in recent), initial=0.0
        )
    )
    since = min(range(len(recent)), key=sums.__getitem__)
    before, after = (_level(scores, scale) for scores in (reference, recent[since:]))
    return Drop(clearest.kind, since, before, after, min(evidence, float_info.max), threshold)


def _level(scores: Sequence[DatedScore], scale: Scale) -> Level:
    is_high = _not_low(scale)
    return Level(
        fmean(each.score for each in scores), 1 - fmean(is_high[each.score] for each in scores)
    )
