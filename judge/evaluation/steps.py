"""A model of an assistant's scores: how its level varies from day to day, and where it has a step.

A score, in points of a scale from 0 to 5, is its channel's level, its day's level, the steps so
far, and chance. Channels' levels are free, so a channel that comes, goes or gets busier is no step.
Days' levels are normal: they resemble the days before (an autoregression), and days of the same
weekday. How much is not estimated: a few ways in which days may vary are weighed by how well they
explain the scores. Scores of a thread count for less, by how much more their sums vary than those
of independent scores.

A step lies at the beginning of a day. Known steps are part of the model, their sizes are not known;
a candidate is one more step, and its evidence is the Bayes factor of having it.

Source: Harvey (1989), Forecasting, Structural Time Series Models and the Kalman Filter, for the
model; Kish (1965), Survey Sampling, for the threads; Morris (1982), Annals of Statistics 10(1), for
the spread of skewed scores; Barndorff-Nielsen and Cox (1994), Inference and Asymptotics, for the
root of a deviance.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from math import exp, log, log1p, sqrt
from operator import mul
from statistics import NormalDist, fmean
from typing import NamedTuple

from judge.evaluation.stats import Interval
from judge.scoring.rubric import Scale

WINDOW = 49
"""Scores of so many days are looked at."""
CANDIDATES = 14
"""A new step may lie at each of so many last days."""
SIZE = 1.0
"""Standard deviation of a step's size before it is seen, in points."""
FREE = 10.0
"""The same where the scores alone shall speak."""

_POINTS = 5.0
_RECENT = 7
WEEKDAY = 0.2  # standard deviation of a weekday's level
RECENT_COUNTS = 0.5  # of a larger variance of the last week
RARE = 0.3  # how much of a score at the far end is added: few scores do not show the rare ones
LEAST_VARIANCE = 0.01
_DUST = 1e-6
_LARGEST = 600.0  # logarithm of a Bayes factor
_NORMAL = NormalDist()
_SURE = _NORMAL.inv_cdf(0.975)

_Rows = list[list[float]]  # of a symmetric or triangular matrix, each up to its diagonal


class Way(NamedTuple):
    """One way in which days' levels may vary."""

    deviation: float  # standard deviation
    resembles: float  # correlation with the day before
    weight: float


WAYS = (
    Way(0.07, 0.0, 2.0),
    Way(0.15, 0.0, 1.0),
    Way(0.15, 0.6, 1.0),
    Way(0.15, 0.9, 1.0),
    Way(0.3, 0.0, 0.75),
    Way(0.3, 0.6, 0.75),
    Way(0.3, 0.9, 0.75),
)


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
    counts = defaultdict[Hashable, list[float]](lambda: [0.0] * WINDOW)
    totals = defaultdict[Hashable, list[float]](lambda: [0.0] * WINDOW)
    for score, value in zip(scores, points, strict=True):
        i = WINDOW - (today - score.day).days
        counts[score.channel][i] += 1
        totals[score.channel][i] += value
    rests, levels = _without_levels(scores, points, known)
    week = today - timedelta(days=_RECENT)
    recent = [rest for rest, score in zip(rests, scores, strict=True) if score.day >= week]
    mean = fmean(points)
    far = -mean if 2 * mean > _POINTS else _POINTS - mean
    variance, skewness = _spread(rests, recent, levels, far)
    inflation = _inflation(scores, rests, far)
    return Tally(
        counts,
        totals,
        max(variance * inflation, LEAST_VARIANCE),
        # Threads do not change it: they make both the skewness and the variance larger.
        skewness / sqrt(max(variance, LEAST_VARIANCE)),
    )


def _without_levels(
    scores: Sequence[DatedScore], points: Sequence[float], known: Collection[date]
) -> tuple[list[float], int]:
    """What is left of the scores without their channel's level between two steps, and how many
    such levels there are.
    """
    steps = sorted(known)
    parts = [(score.channel, bisect_right(steps, score.day)) for score in scores]
    levels = defaultdict[tuple[Hashable, int], list[float]](list)
    for part, value in zip(parts, points, strict=True):
        levels[part].append(value)
    means = {part: fmean(values) for part, values in levels.items()}
    return [value - means[part] for part, value in zip(parts, points, strict=True)], len(means)


def _spread(
    rests: Sequence[float], recent: Sequence[float], levels: int, far: float
) -> tuple[float, float]:
    """The variance and the skewness of scores, by what is left of them without their levels.

    Args:
        recent: Those of the last week.
        levels: How many levels were estimated.
        far: A score at the far end of the scale, less the mean.
    """
    n = len(rests)
    squares = _dot(rests, rests) + RARE * far**2
    cubes = sum(rest**3 for rest in rests) + RARE * far**3
    skewness = cubes / n / max(squares / n, LEAST_VARIANCE) ** 1.5
    variance = squares / (max(n - levels, 1) + RARE)
    if recent:
        # If the scores' spread has changed, the last days differ more by chance. A step is no such
        # change, nor is what follows from it where scores are skewed: in an exponential family the
        # variance grows with the mean by the third moment for each of the second.
        shift = fmean(recent)
        spread_since = _dot(recent, recent) / len(recent) - shift**2
        spread_expected = variance + max(cubes / squares * shift, 0.0)
        variance += RECENT_COUNTS * max(spread_since - spread_expected, 0.0)
    return variance, skewness


def _inflation(scores: Sequence[DatedScore], rests: Sequence[float], far: float) -> float:
    """How much more the sums of threads vary than those of independent scores."""
    threads = defaultdict[Hashable, list[float]](list)
    for number, score in enumerate(scores):
        threads[score.cluster(number)].append(rests[number])
    length = sum(len(thread) ** 2 for thread in threads.values()) / len(rests)
    # The score at the far end is added to a thread of mean length.
    rare = RARE * length * far**2
    of_sums = sum(sum(thread) ** 2 for thread in threads.values()) + length * rare
    of_scores = _dot(rests, rests) + rare
    return max(of_sums / of_scores, 1.0)


@dataclass(frozen=True)
class Estimate:
    """A size of which nothing is known but how probable it is: a mixture of normal distributions."""

    parts: Sequence[tuple[float, float, float]]  # weight, mean, standard deviation

    @property
    def mean(self) -> float:
        return sum(weight * mean for weight, mean, _ in self.parts)

    @property
    def deviation(self) -> float:
        squares = sum(weight * (mean**2 + deviation**2) for weight, mean, deviation in self.parts)
        return sqrt(max(squares - self.mean**2, 0.0))

    def times(self, sign: int) -> "Estimate":
        return Estimate(
            [(weight, sign * mean, deviation) for weight, mean, deviation in self.parts]
        )

    def chance_above(self, size: float) -> float:
        return sum(
            weight * _NORMAL.cdf((mean - size) / deviation)
            for weight, mean, deviation in self.parts
        )

    def interval(self, scale: Scale) -> Interval:
        """The mean with its 95% interval, on the scale."""
        half = _SURE * self.deviation
        ends = (self.mean, self.mean - half, self.mean + half)
        return Interval(*(unit(scale) * end for end in ends))


class _Fit(NamedTuple):
    """The scores under one way: a normal distribution of the days' levels and of effects, in
    canonical form (precision, and precision times mean).
    """

    weight: float  # how well the way explains the scores
    factor: _Rows  # of the precision (Cholesky)
    pull: list[float]  # the precision times the mean, divided by the factor


@dataclass(frozen=True)
class Model:
    """What the scores tell about effects on the days' levels.

    Attributes:
        information: The precision of the days' levels that the scores alone give.
        pull: The same times the levels that fit the scores best.
        skew: The skewness of an effect, times the root of the scores' information on it.
        fits: One for each way. Their weights add up to the Bayes factor of having the last effect.
        designs: How much of each effect is in each day's level.
    """

    information: Sequence[Sequence[float]]
    pull: Sequence[float]
    skew: float
    fits: Sequence[_Fit]
    designs: Sequence[Sequence[float]] = ()

    @property
    def evidence(self) -> float:
        return sum(fit.weight for fit in self.fits)

    def having(self, design: Sequence[float], size: float = SIZE) -> "Model":
        """The model with one more effect; before it is seen, its standard deviation is `size`."""
        column = [_dot(row, design) for row in self.information]
        of_scores = _dot(column, design)
        pull = _dot(self.pull, design)
        # What the effect has in common with the days' levels and with the other effects.
        shared = [*column, *(_dot(column, other) for other in self.designs)]
        total = self.evidence
        fits = []
        for fit in self.fits:
            # One more row of the Cholesky factor.
            row = _solve(fit.factor, shared)
            last = sqrt(of_scores + size**-2 - _dot(row, row))
            # The effect's mean in standard deviations.
            effect = (pull - _dot(row, fit.pull)) / last
            surprise = effect**2 * tamed(effect, last**2, of_scores, size, self.skew)
            ratio = exp(min(surprise / 2, _LARGEST)) / (size * last)
            weight = fit.weight / total * ratio
            fits.append(_Fit(weight, [*fit.factor, [*row, last]], [*fit.pull, effect]))
        return replace(self, fits=fits, designs=[*self.designs, design])

    def estimate(self, *shares: float) -> Estimate:
        """The effects times these shares, added up."""
        total = self.evidence
        parts = []
        for fit in self.fits:
            solved = _solve([row[WINDOW:] for row in fit.factor[WINDOW:]], shares)
            mean = _dot(solved, fit.pull[WINDOW:])
            parts.append((fit.weight / total, mean, sqrt(_dot(solved, solved))))
        return Estimate(parts)


def tamed(effect: float, precision: float, of_scores: float, size: float, skew: float) -> float:
    """How much less than under a normal distribution an effect says for being one, from 0 to 1.

    A few scores far below the others are what a skewed distribution gives now and then. So an
    effect in the direction of the skew is measured by the gamma distribution with that skewness
    (the root of its deviance).

    Args:
        effect: Its mean in standard deviations.
        precision: That of the effect, with what was known before the scores were seen.
        of_scores: The scores' own part of it, as if days did not vary.
    """
    seen = precision - size**-2
    if seen <= 0 or of_scores <= 0:
        return 1.0
    # Days' levels are not skewed, and have their part of the effect's variance.
    skewness = skew / sqrt(of_scores) * sqrt(seen / of_scores) ** 3
    deviation = effect * sqrt(precision / seen) * skewness / 2
    if deviation <= _DUST:
        return 1.0
    return 2 * (deviation - log1p(deviation)) / deviation**2


def step(day: date, today: date) -> list[float]:
    """The design of a step on that day."""
    days_since = (today - day).days
    return [float(WINDOW - i <= days_since) for i in range(WINDOW)]


def to_model(counted: Tally, level: float | None = None) -> Model:
    """The model without effects. Each channel's level is free; with a `level` it is that, for all."""
    information = [[0.0] * WINDOW for _ in range(WINDOW)]
    pull = [0.0] * WINDOW
    for channel, counts in counted.counts.items():
        totals = counted.totals[channel]
        n = sum(counts)
        mean = sum(totals) / n if level is None else level
        for i, count in enumerate(counts):
            if not count:
                continue
            information[i][i] += count / counted.variance
            pull[i] += (totals[i] - count * mean) / counted.variance
            if level is None:
                # A mean that all days of the channel share is projected out.
                for j, other in enumerate(counts):
                    information[i][j] -= count * other / n / counted.variance
    fits = [_fit(way, information, pull) for way in WAYS]
    best = max(fit.weight for fit in fits)
    weights = [exp(fit.weight - best) for fit in fits]
    shares = [weight / sum(weights) for weight in weights]
    weighed = [fit._replace(weight=share) for fit, share in zip(fits, shares, strict=True)]
    return Model(information, pull, counted.skew, weighed)


def _fit(way: Way, information: _Rows, pull: Sequence[float]) -> _Fit:
    """The fit with the logarithm of its weight: the marginal likelihood of the scores."""
    prior, prior_volume = _prior(way)
    factor = _factor(
        [
            [ours + theirs for ours, theirs in zip(row, given, strict=False)]
            for row, given in zip(prior, information, strict=True)
        ]
    )
    divided = _solve(factor, pull)
    volume = sum(log(row[-1]) for row in factor)
    likelihood = _dot(divided, divided) / 2 - volume - prior_volume
    return _Fit(log(way.weight) + likelihood, factor, divided)


@cache
def _prior(way: Way) -> tuple[_Rows, float]:
    """The precision of days' levels, and half the logarithm of its inverse's determinant."""
    covariance = [
        [
            way.deviation**2 * way.resembles**lag + WEEKDAY**2 * (lag % 7 == 0)
            for lag in range(i, -1, -1)
        ]
        for i in range(WINDOW)
    ]
    factor = _factor(covariance)
    # Row i is what the factor turns into the unit vector i.
    inverse = [_solve(factor, [float(i == j) for j in range(WINDOW)]) for i in range(WINDOW)]
    precision = [[_dot(inverse[i], inverse[j]) for j in range(i + 1)] for i in range(WINDOW)]
    return precision, sum(log(row[-1]) for row in factor)


def _factor(rows: _Rows) -> _Rows:
    """The lower triangular matrix whose product with its transpose this is (Cholesky)."""
    factor: _Rows = []
    for row in rows:
        solved = _solve(factor, row)
        solved.append(sqrt(row[-1] - _dot(solved, solved)))
        factor.append(solved)
    return factor


def _solve(factor: _Rows, values: Sequence[float]) -> list[float]:
    """What the factor times it gives the values, as many of them as it has rows."""
    solved: list[float] = []
    for row, value in zip(factor, values, strict=False):
        solved.append((value - _dot(row, solved)) / row[-1])
    return solved


def _dot(row: Sequence[float], other: Sequence[float]) -> float:
    """The inner product, as far as both go."""
    product: float = sum(map(mul, row, other))
    return product
