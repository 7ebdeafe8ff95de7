"""A model of an assistant's scores: how its level varies from day to day, and where it has a step.

A score, in points of a scale from 0 to 5, is its channel's level, its day's level, the steps so
far, and chance. Channels' levels are free, so a channel that comes, goes or gets busier is no step.
Days' levels are normal: they resemble the days before (an autoregression), and days of the same
weekday. How much is not estimated: a few ways in which days may vary are weighed by how well they
explain the scores.

A step lies at the beginning of a day. Known steps are part of the model, their sizes are not known;
a candidate is one more step, and its evidence is the Bayes factor of having it.

Source: Harvey (1989), Forecasting, Structural Time Series Models and the Kalman Filter, for the
model; Barndorff-Nielsen and Cox (1994), Inference and Asymptotics, for the root of a deviance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from math import exp, log, log1p, sqrt
from statistics import NormalDist
from typing import NamedTuple

from judge.evaluation.stats import Interval
from judge.evaluation.tally import WINDOW, Tally, unit
from judge.evaluation.triangular import Rows, dot, solve, to_factor
from judge.scoring.rubric import Scale

CANDIDATES = 14
"""A new step may lie at each of so many last days."""
SIZE = 1.0
"""Standard deviation of a step's size before it is seen, in points."""
FREE = 10.0
"""The same where the scores alone shall speak."""

WEEKDAY = 0.2  # standard deviation of a weekday's level
_DUST = 1e-6
_LARGEST = 600.0  # logarithm of a Bayes factor
_NORMAL = NormalDist()
_SURE = _NORMAL.inv_cdf(0.975)


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
    factor: Rows  # of the precision (Cholesky)
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
        column = [dot(row, design) for row in self.information]
        of_scores = dot(column, design)
        pull = dot(self.pull, design)
        # What the effect has in common with the days' levels and with the other effects.
        shared = [*column, *(dot(column, other) for other in self.designs)]
        total = self.evidence
        fits = []
        for fit in self.fits:
            # One more row of the Cholesky factor.
            row = solve(fit.factor, shared)
            last = sqrt(of_scores + size**-2 - dot(row, row))
            # The effect's mean in standard deviations.
            effect = (pull - dot(row, fit.pull)) / last
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
            solved = solve([row[WINDOW:] for row in fit.factor[WINDOW:]], shares)
            mean = dot(solved, fit.pull[WINDOW:])
            parts.append((fit.weight / total, mean, sqrt(dot(solved, solved))))
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
    return Model(information, pull, counted.skew, _fits(information, pull))


def _fits(information: Rows, pull: Sequence[float]) -> list[_Fit]:
    """A fit for each way, weighed by how well it explains the scores."""
    fits = [_fit(way, information, pull) for way in WAYS]
    best = max(fit.weight for fit in fits)
    weights = [exp(fit.weight - best) for fit in fits]
    shares = [weight / sum(weights) for weight in weights]
    return [fit._replace(weight=share) for fit, share in zip(fits, shares, strict=True)]


def _fit(way: Way, information: Rows, pull: Sequence[float]) -> _Fit:
    """The fit with the logarithm of its weight: the marginal likelihood of the scores."""
    prior, prior_volume = _prior(way)
    factor = to_factor(
        [
            [ours + theirs for ours, theirs in zip(row, given, strict=False)]
            for row, given in zip(prior, information, strict=True)
        ]
    )
    divided = solve(factor, pull)
    volume = sum(log(row[-1]) for row in factor)
    likelihood = dot(divided, divided) / 2 - volume - prior_volume
    return _Fit(log(way.weight) + likelihood, factor, divided)


@cache
def _prior(way: Way) -> tuple[Rows, float]:
    """The precision of days' levels, and half the logarithm of its inverse's determinant."""
    covariance = [
        [
            way.deviation**2 * way.resembles**lag + WEEKDAY**2 * (lag % 7 == 0)
            for lag in range(i, -1, -1)
        ]
        for i in range(WINDOW)
    ]
    factor = to_factor(covariance)
    # Row i is what the factor turns into the unit vector i.
    inverse = [solve(factor, [float(i == j) for j in range(WINDOW)]) for i in range(WINDOW)]
    precision = [[dot(inverse[i], inverse[j]) for j in range(i + 1)] for i in range(WINDOW)]
    return precision, sum(log(row[-1]) for row in factor)
