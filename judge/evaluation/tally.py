"""Scores summed up by channel and day, with how far they vary around their levels.

Scores of a thread count for less, by how much more their sums vary than those of independent
scores.

Source: Kish (1965), Survey Sampling, for the threads; Morris (1982), Annals of Statistics 10(1),
for the spread of skewed scores.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from math import sqrt
from statistics import fmean
from typing import NamedTuple

from judge.evaluation.triangular import dot
from judge.scoring.rubric import Scale

WINDOW = 49
"""Scores of so many days are looked at."""
LEAST_VARIANCE = 0.01
RECENT_COUNTS = 0.5  # of a larger variance of the last week
RARE = 0.3  # how much of a score at the far end is added: few scores do not show the rare ones
_POINTS = 5.0
_RECENT = 7


class DatedScore(NamedTuple):
    """A scored reply: its score and day, its channel, and its thread or whatever else links it to
    others of that channel. Without a thread it is independent.
    """

    score: int
    day: date
    channel: Hashable = None
    thread: Hashable = None

    def cluster(self, number: int) -> Hashable:
        """What it has in common with the scores of its thread; its number, which is its alone,
        without one.
        """
        return number if self.thread is None else (self.channel, self.thread)


def unit(scale: Scale) -> float:
    """How much of the scale is a point of the model."""
    return (scale.high - scale.low) / _POINTS


@dataclass(frozen=True)
class Tally:
    """Scores summed up for each channel and day, in points.

    Attributes:
        counts: How many there are, by channel.
        totals: Their sums, by channel.
        variance: That of a mean of scores around their level, times their number.
        skew: The skewness of a mean, times the root of the information on it.
    """

    counts: Mapping[Hashable, Sequence[float]]
    totals: Mapping[Hashable, Sequence[float]]
    variance: float
    skew: float

    def at(self, today: date, end: date) -> "Tally":
        """What may be known before `end` instead of `today`, if each weekday brings as many scores
        as in the last four weeks, all like the mean.
        """
        moved = (end - today).days
        counts = dict[Hashable, list[float]]()
        for channel, known in self.counts.items():
            usual = [sum(known[WINDOW - 28 + i :: 7]) / 4 for i in range(7)]
            ahead = [usual[i % 7] for i in range(moved)]
            counts[channel] = [*known, *ahead][moved:]
        return replace(self, counts=counts, totals=counts)


def tally(
    scores: Sequence[DatedScore], today: date, scale: Scale, known: Collection[date] = ()
) -> Tally:
    """Sums up scores of the window before `today`, at least one; `known` are days of steps."""
    points = [(score.score - scale.low) / unit(scale) for score in scores]
    rests = _without_levels(scores, points, known)
    variance, skewness = _spread(rests, _of_last_week(rests, scores, today))
    inflation = _inflation(rests, scores)
    return Tally(
        _by_day(scores, [1.0 for _ in points], today),
        _by_day(scores, points, today),
        max(variance * inflation, LEAST_VARIANCE),
        # Threads do not change it: they make both the skewness and the variance larger.
        skewness / sqrt(max(variance, LEAST_VARIANCE)),
    )


def _by_day(
    scores: Sequence[DatedScore], values: Sequence[float], today: date
) -> Mapping[Hashable, Sequence[float]]:
    """The values of the scores, added up by channel and day of the window."""
    sums = defaultdict[Hashable, list[float]](lambda: [0.0] * WINDOW)
    for score, value in zip(scores, values, strict=True):
        sums[score.channel][WINDOW - (today - score.day).days] += value
    return sums


class _Rests(NamedTuple):
    """What is left of the scores without their channel's level between two steps.

    `levels` is how many such levels there are, `far` a score at the far end of the scale, less the
    mean.
    """

    values: Sequence[float]
    levels: int
    far: float


def _without_levels(
    scores: Sequence[DatedScore], points: Sequence[float], known: Collection[date]
) -> _Rests:
    steps = sorted(known)
    parts = [(score.channel, bisect_right(steps, score.day)) for score in scores]
    levels = defaultdict[tuple[Hashable, int], list[float]](list)
    for part, value in zip(parts, points, strict=True):
        levels[part].append(value)
    means = {part: fmean(values) for part, values in levels.items()}
    rests = [value - means[part] for part, value in zip(parts, points, strict=True)]
    return _Rests(rests, len(means), _far(fmean(points)))


def _far(mean: float) -> float:
    return -mean if 2 * mean > _POINTS else _POINTS - mean


def _of_last_week(rests: _Rests, scores: Sequence[DatedScore], today: date) -> list[float]:
    week = today - timedelta(days=_RECENT)
    return [rest for rest, score in zip(rests.values, scores, strict=True) if score.day >= week]


def _spread(rests: _Rests, recent: Sequence[float]) -> tuple[float, float]:
    """The variance and the skewness of scores, by what is left of them without their levels, of all
    and of those of the last week.
    """
    n = len(rests.values)
    squares = dot(rests.values, rests.values) + RARE * rests.far**2
    cubes = sum(rest**3 for rest in rests.values) + RARE * rests.far**3
    skewness = cubes / n / max(squares / n, LEAST_VARIANCE) ** 1.5
    variance = squares / (max(n - rests.levels, 1) + RARE)
    if recent:
        # If the scores' spread has changed, the last days differ more by chance. A step is no such
        # change, nor is what follows from it where scores are skewed: in an exponential family the
        # variance grows with the mean by the third moment for each of the second.
        shift = fmean(recent)
        spread_since = dot(recent, recent) / len(recent) - shift**2
        spread_expected = variance + max(cubes / squares * shift, 0.0)
        variance += RECENT_COUNTS * max(spread_since - spread_expected, 0.0)
    return variance, skewness


def _inflation(rests: _Rests, scores: Sequence[DatedScore]) -> float:
    """How much more the sums of threads vary than those of independent scores."""
    threads = defaultdict[Hashable, list[float]](list)
    for number, score in enumerate(scores):
        threads[score.cluster(number)].append(rests.values[number])
    length = sum(len(thread) ** 2 for thread in threads.values()) / len(scores)
    # The score at the far end is added to a thread of mean length.
    rare = RARE * length * rests.far**2
    of_sums = sum(sum(thread) ** 2 for thread in threads.values()) + length * rare
    of_scores = dot(rests.values, rests.values) + rare
    return max(of_sums / of_scores, 1.0)
