"""Whether an assistant has become clearly worse than it was: a test that may be repeated after each score.

    reference = [Scored(4, date(2026, 11, 2), thread="1"), ...]     # the four weeks before the last seven days
    recent = [Scored(3, date(2026, 11, 30)), ...]                   # the last seven days, or since the last alert
    find_drop(reference, recent, Scale(0, 5))                       # a Drop, NotEnough, or None
    find_below(3.5, reference, recent, Scale(0, 5))                 # the same against a floor that somebody set

Nothing is kept between calls: the same scores give the same answer. The test is an e-detector (Shiryaev-Roberts) over
likelihood ratios: the reference's distribution is tilted exponentially, once to the lowest mean that still counts as
unchanged, once to one that is lower by a bet, and a score's e-value is the ratio of the two. One unit is staked on each
reply as the one with which the drop began, so the evidence grows as (evidence + 1) * e-value; it is averaged over three
bets on each of two figures, the mean and the share of low scores. Three things that look like a drop are allowed for:
weekdays with levels of their own are taken out by empirical Bayes; scores that hang together within a thread or a day
count for less, by the power 1 / V of the e-value, V being how much more their sums vary than those of independent
scores; and the reference's own error lowers the mean that counts as unchanged.

Source: Shin, Ramdas, Rinaldo, "E-detectors" (arXiv 2203.03532); Lorden (1971), Annals of Mathematical Statistics 42(6),
for likelihood ratios; Efron and Morris (1973), JASA 68(341), for the weekdays; Kish (1965) for V. The threshold is
calibrated by simulation: docs/measurements.md has the figures, `python -m bench.drift` prints them.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate, pairwise
from math import exp, log, sqrt
from statistics import fmean
from sys import float_info
from typing import Literal, NamedTuple

from judge.rubric import Scale

MIN_REFERENCE = 30
"""With fewer scores in the reference nothing is said of a drop."""
MARGIN = 0.02
"""How much lower than the reference's the mean must be, as a part of the scale: 0.1 of 0 to 5."""
_BETS = (0.04, 0.08, 0.16)
_SURE = 1.0  # standard errors of the reference's mean that count as unchanged
_SHARE, _SHARE_OF_FLOOR = 0.5, 1.5  # thresholds, as parts of the replies of 90 days, by simulation
_QUARTER, _DAYS, _WEEKDAYS = 90, 28, 7
_MIN_DAYS = 14  # with fewer days, a weekday is a single day
_SMOOTHING = 0.02  # of a score on each value, so that none is impossible
_LEAST = 0.01  # a mean below that, as a part of the scale, can hardly get lower

Kind = Literal["mean", "low share", "floor"]


class Scored(NamedTuple):
    """A score, its day, and what it shares with others, such as a thread; None where it stands alone."""

    score: int
    day: date
    thread: Hashable = None


class Level(NamedTuple):
    """Scores in two figures: their mean, and the share below the scale's middle (0 to 2 of 0 to 5)."""

    mean: float
    low_share: float


@dataclass(frozen=True)
class Drop:
    """The recent scores are lower, and chance is no explanation.

    Attributes:
        kind: What shows it most clearly: the mean, the share of low scores, or the mean against a floor.
        since: The index in `recent` at which it most likely began; earlier scores are not part of it.
        before: The reference.
        after: The recent scores from `since` on. It was chosen for being low, so it looks somewhat worse than it is.
        evidence: The value of the e-detector, at least `threshold`.
        threshold: What the evidence reaches about once in 90 days, or more rarely, while nothing changes.
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


def find_drop(reference: Sequence[Scored], recent: Sequence[Scored], scale: Scale) -> Drop | NotEnough | None:
    """A drop of the mean, or a rise of the share of low scores, against the reference; None where there is none.

    Args:
        reference: Scores of the four weeks before the last seven days, in the order of time. Fewer days are welcome.
        recent: Scores of the last seven days, or since the last alert where that was later, in the order of time.
        scale: Lowest and highest score, both included.

    Raises:
        ValueError: A score that is not a whole number on the scale.
    """
    _check(reference, recent, scale)
    return _find(_tests_of_drop(reference, scale), _SHARE, reference, recent, scale)


def find_below(
    floor: float, reference: Sequence[Scored], recent: Sequence[Scored], scale: Scale
) -> Drop | NotEnough | None:
    """The mean is below the floor, however it was before; None while nothing shows that.

    The reference says here only how scores spread and hang together, and how many there are in 90 days.

    Args:
        floor: The lowest mean that is wanted, between the ends of the scale.
        reference: As for `find_drop`.
        recent: As for `find_drop`.
        scale: Lowest and highest score, both included.

    Raises:
        ValueError: A score that is not a whole number on the scale, or a floor that is not between its ends.
    """
    _check(reference, recent, scale)
    if not scale.low < floor < scale.high:
        raise ValueError(f"floor {floor:g} is not between the ends of the scale, {scale.low} and {scale.high}")
    return _find(_tests_of_floor(floor, reference, scale), _SHARE_OF_FLOOR, reference, recent, scale)


def _check(reference: Sequence[Scored], recent: Sequence[Scored], scale: Scale) -> None:
    strays = {each.score for scores in (reference, recent) for each in scores}.difference(_heights(scale))
    if strays:
        raise ValueError(f"score {strays.pop()} is not a whole number from {scale.low} to {scale.high}")


def _heights(scale: Scale) -> dict[int, float]:
    return {score: (score - scale.low) / (scale.high - scale.low) for score in range(scale.low, scale.high + 1)}


def _not_low(scale: Scale) -> dict[int, float]:
    return {score: float(height >= 0.5) for score, height in _heights(scale).items()}


class _Habits(NamedTuple):
    """What the reference says of a figure, as parts of the scale.

    Attributes:
        mean: Its mean, with one lowest score added: a few good ones do not prove that there are no others.
        error: The standard error of that mean.
        weekdays: How far each weekday's level is from the mean, Monday first.
        inflation: V, at least 1.
    """

    mean: float
    error: float
    weekdays: Sequence[float]
    inflation: float


def _learn(values: Mapping[int, float], reference: Sequence[Scored]) -> _Habits:
    n = len(reference)
    mean = sum(values[each.score] for each in reference) / n
    weekdays = _weekdays([(each.day, values[each.score] - mean) for each in reference])
    rests = [values[score] - mean - weekdays[day.weekday()] for score, day, _ in reference]
    inflation = _inflation(reference, rests, mean)
    below = mean * n / (n + 1)
    variance = (sum(rest * rest for rest in rests) + below * below) / (n + 1)
    return _Habits(below, sqrt(variance * inflation / n), weekdays, inflation)


def _weekdays(rests: Sequence[tuple[date, float]]) -> Sequence[float]:
    """How far each weekday is from the mean, shrunk by as much of that as chance explains (James and Stein)."""
    days: dict[date, list[float]] = defaultdict(list)
    for day, rest in rests:
        days[day].append(rest)
    if len(days) < _MIN_DAYS:
        return [0.0] * _WEEKDAYS
    means: list[list[float]] = [[] for _ in range(_WEEKDAYS)]
    for day, each in days.items():
        means[day.weekday()].append(fmean(each))
    levels = [fmean(each) if each else 0.0 for each in means]
    left = sum((mean - level) ** 2 for level, each in zip(levels, means, strict=True) for mean in each)
    noise = left / (len(days) - _WEEKDAYS)
    found = sum(len(each) * level**2 for level, each in zip(levels, means, strict=True))
    share = max(1 - (_WEEKDAYS - 3) * noise / found, 0.0) if found else 0.0
    return [share * level for level in levels]


def _inflation(reference: Sequence[Scored], rests: Sequence[float], mean: float) -> float:
    """V: within threads, and across days as far as their threads do not explain it; `rests` are about the mean."""
    threads, days = defaultdict[Hashable, list[float]](list), defaultdict[date, list[float]](list)
    for i, ((_, day, thread), rest) in enumerate(zip(reference, rests, strict=True)):
        threads[(i, thread) if thread is None else thread].append(rest)
        days[day].append(rest)
    squares = sum(rest * rest for rest in rests)
    if not squares or not mean:
        return 1.0
    # To the threads, too, one of the lowest scores is added, as long as the thread that a score is in on average.
    size, lowest = sum(len(each) ** 2 for each in threads.values()) / len(rests), mean * mean
    sums = sum(sum(each) ** 2 for each in threads.values())
    within = max((sums + size * size * lowest) / (squares + size * lowest), 1.0)
    # From each day to the next, so that a lasting change within the reference does not count. Few days vary by chance:
    # what is within one standard error of that does not count either.
    jumps = [(b - a) ** 2 / 2 for a, b in pairwise(sum(each) / sqrt(len(each)) for each in days.values())]
    if not jumps:
        return within
    fitted = _WEEKDAYS if len(days) >= _MIN_DAYS else 1
    across = fmean(jumps) * len(rests) / squares * len(days) / (len(days) - fitted)
    return max(within, across / (1 + sqrt(3 / len(jumps))))


class _Test(NamedTuple):
    kind: Kind
    e_values: Sequence[Mapping[int, float]]  # of each score, by weekday


def _tests_of_drop(reference: Sequence[Scored], scale: Scale) -> Iterator[_Test]:
    kinds: tuple[tuple[Kind, dict[int, float]], ...] = (("mean", _heights(scale)), ("low share", _not_low(scale)))
    for kind, values in kinds:
        habits = _learn(values, reference)
        null = min(fmean(values[each.score] for each in reference) - MARGIN, habits.mean - _SURE * habits.error)
        yield from _bets(kind, values, null, habits, reference)


def _tests_of_floor(floor: float, reference: Sequence[Scored], scale: Scale) -> Iterator[_Test]:
    heights = _heights(scale)
    null = (floor - scale.low) / (scale.high - scale.low)
    yield from _bets("floor", heights, null, _learn(heights, reference), reference)


def _bets(
    kind: Kind, values: Mapping[int, float], null: float, habits: _Habits, reference: Sequence[Scored]
) -> Iterator[_Test]:
    """Tests of "the mean of the values is at least `null`"; none where it could hardly be lower."""
    if null < _LEAST:
        return
    counts = Counter(each.score for each in reference)
    counts[min(values)] += 1
    shape = [(value, counts[score] + _SMOOTHING) for score, value in values.items()]
    before, normal = _tilt(shape, min(null, 1 - _LEAST / 2))
    for bet in _BETS:
        after, lower = _tilt(shape, max(null - bet, null / 10))
        yield _Test(
            kind,
            [
                {
                    score: exp(((after - before) * (value - level) - lower + normal) / habits.inflation)
                    for score, value in values.items()
                }
                for level in habits.weekdays
            ],
        )


def _tilt(shape: Sequence[tuple[float, float]], mean: float) -> tuple[float, float]:
    """The exponent t by which weights times exp(t * value) have that mean, and the logarithm of their sum."""
    low, high = -60.0, 60.0
    for _ in range(50):
        middle = (low + high) / 2
        tilted = [(value, weight * exp(middle * (value - 0.5))) for value, weight in shape]
        is_above = sum(value * weight for value, weight in tilted) > mean * sum(weight for _, weight in tilted)
        low, high = (low, middle) if is_above else (middle, high)
    return low, log(sum(weight * exp(low * (value - 0.5)) for value, weight in shape)) + low / 2


def _evidence(recent: Sequence[Scored], tests: Sequence[_Test]) -> Iterator[Sequence[float]]:
    """The evidence of each test after each score."""
    evidence: Sequence[float] = [0.0] * len(tests)
    for score, day, _ in recent:
        weekday = day.weekday()
        evidence = [(each + 1) * test.e_values[weekday][score] for each, test in zip(evidence, tests, strict=True)]
        yield evidence


def _threshold(share: float, reference: Sequence[Scored]) -> float:
    days = min((reference[-1].day - reference[0].day).days + 1, _DAYS)
    return share * _QUARTER / days * len(reference)


def _find(
    weighed: Iterator[_Test], share: float, reference: Sequence[Scored], recent: Sequence[Scored], scale: Scale
) -> Drop | NotEnough | None:
    if len(reference) < MIN_REFERENCE:
        return NotEnough(len(reference), MIN_REFERENCE)
    tests, threshold = list(weighed), _threshold(share, reference)
    ends = deque(_evidence(recent, tests), maxlen=1)
    if not ends or not tests or (evidence := fmean(ends[0])) < threshold:
        return None
    clearest = tests[ends[0].index(max(ends[0]))]
    # It began where the e-values from then on multiply to the most.
    sums = list(accumulate((log(clearest.e_values[day.weekday()][score]) for score, day, _ in recent), initial=0.0))
    since = min(range(len(recent)), key=sums.__getitem__)
    before, after = (_level(scores, scale) for scores in (reference, recent[since:]))
    return Drop(clearest.kind, since, before, after, min(evidence, float_info.max), threshold)


def _level(scores: Sequence[Scored], scale: Scale) -> Level:
    is_high = _not_low(scale)
    return Level(fmean(each.score for each in scores), 1 - fmean(is_high[each.score] for each in scores))
