"""Weighted kappa: the agreement of two raters on an ordered scale, and intervals for it and for
correlations.
"""

from collections.abc import Iterable, Mapping
from math import atanh, copysign, inf, isnan, nan, sqrt, tanh
from typing import NamedTuple, Self

from judge.evaluation.distributions import t_quantile
from judge.evaluation.stats import Interval
from judge.scoring.rubric import Scale


class Moments(NamedTuple):
    """Sums over pairs of numbers x and y that two raters gave: of 1, x, y, xx, yy and xy."""

    n: float
    x: float
    y: float
    xx: float
    yy: float
    xy: float

    @classmethod
    def of(cls, pairs: Iterable[tuple[float, float]]) -> Self:
        return cls(*map(sum, zip(*((1, x, y, x * x, y * y, x * y) for x, y in pairs), strict=True)))

    def plus(self, other: "Moments", times: float = 1) -> "Moments":
        return Moments(*(mine + times * its for mine, its in zip(self, other, strict=True)))

    @property
    def kappa(self) -> float:
        """Agreement beyond chance: 1 is perfect, 0 is chance. Nothing is rounded.

        It is 1 minus the mean squared distance between x and y, divided by that between all x and
        all y. On whole numbers this is Cohen's kappa (1968, Psychological Bulletin 70(4)), on
        others Lin's concordance (1989, Biometrics 45(1)). NaN if all x or all y are equal, because
        then nothing can agree beyond chance.
        """
        n, x, y, xx, yy, xy = self
        if min(n * xx - x * x, n * yy - y * y) <= 1e-9 * n * n:  # no spread
            return nan
        return 1 - n * (xx + yy - 2 * xy) / (n * (xx + yy) - 2 * x * y)

    @property
    def slope(self) -> float:
        """How much higher x is for one more of y; NaN if all y are equal."""
        n, x, y, _, yy, xy = self
        spread = n * yy - y * y
        return (n * xy - x * y) / spread if spread > 1e-9 * n * n else nan

    def least_error(self, scale: Scale) -> float:
        """A lower limit for kappa's standard error on the atanh scale: a small sample can lack rare
        scores.

        It is the change from one more pair on which both agree, counted half at each end of the
        scale. If the error for scores unrelated to the labels is larger, which happens near a kappa
        of 0, it is that error.
        """
        value = self.kappa
        (n, x, y, xx, yy, _) = self
        if isnan(value):
            return 0.0
        unrelated = (
            2
            * sqrt((n * xx - x * x) * (n * yy - y * y) / n)
            / (n * (xx + yy) - 2 * x * y)
            * (1 - value**2)
        )
        one_more = self.plus(Moments.of((end, end) for end in scale), 0.5)
        return max(
            unrelated, abs(_atanh(one_more.kappa) - _atanh(value))
        )  # `unrelated` if the other is NaN


def atanh_interval(
    value: float, without: Iterable[tuple[float, float]], n: int, least_error: float
) -> tuple[float, float]:
    """The 95% interval of a correlation or of kappa, by the jackknife on the atanh scale (Fisher
    1915).

    `without` has the figure without each of `n` independent parts; equal ones may be counted. The
    ends are NaN if the figure is 1 or -1, or undefined without one of the parts; they are -1 and 1
    if it is 1 or -1 without one.
    """
    if n < 2 or not abs(value) < 1:
        return nan, nan
    squares = sum(times * (_atanh(each) - atanh(value)) ** 2 for each, times in without)
    half = t_quantile(n - 1) * max(sqrt((n - 1) / n * squares), least_error)
    return tanh(atanh(value) - half), tanh(atanh(value) + half)


def kappa_of(pairs: Mapping[tuple[int, int], int], scale: Scale) -> Interval | None:
    """Weighted kappa of independent pairs, which are counted, with its 95% interval.

    None if either rater gave the same number throughout. The ends are None if the value is 1 or -1,
    or depends on a single pair.
    """
    total = Moments.of(pair for pair, times in pairs.items() for _ in range(times))
    if isnan(value := total.kappa):
        return None
    without = ((total.plus(Moments.of([pair]), -1).kappa, times) for pair, times in pairs.items())
    low, high = atanh_interval(value, without, int(total.n), total.least_error(scale))
    return Interval(value, low, high) if high - low < 2 else Interval(value, None, None)


def _atanh(value: float) -> float:
    if abs(value) < 1:
        return atanh(value)
    return copysign(inf, value) if abs(value) == 1 else nan
