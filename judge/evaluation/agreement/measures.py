"""The measures of agreement with people, and the 95% interval of each.

The intervals are by the jackknife: each prompt is left out once, because responses to one prompt
are not independent. Source: Shao and Tu, The Jackknife and Bootstrap (1995). The same sample always
gives the same interval.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import atanh, sqrt, tanh
from typing import Any, Literal

import numpy as np

from judge.evaluation.agreement.sample import MOST_GROUPS, Floats, Ints, Sample
from judge.evaluation.distributions import t_quantile, wilson_ends
from judge.scoring.rubric import Scale

Range = Literal["any", "share", "correlation"]
"""The values that a figure can take, which decide how its interval is computed."""


@dataclass(frozen=True)
class Statistic:
    """A figure, and its value without each group of prompts."""

    value: float  # NaN if the figure is undefined
    # shape (groups,): without each group of prompts, NaN if undefined, `value` if it has none
    without: Floats
    n: int  # the responses (or pairs of responses) that it covers
    prompts: int  # of these
    range: Range = "correlation"
    why_undefined: str = "one score throughout"  # why `value` is NaN
    least_error: float = 0.0  # of the standard error, on the atanh scale

    @property
    def groups(self) -> int:
        return min(self.prompts, MOST_GROUPS)

    @property
    def error(self) -> float:
        """The standard error; of correlations and of kappa on the atanh scale (Fisher 1915)."""
        without = self.without
        value = self.value
        if self.range == "correlation":
            with np.errstate(divide="ignore"):
                without = np.arctanh(np.clip(without, -1, 1))
            value = atanh(value)
        squares = np.square(without - value).sum()
        return max(sqrt((self.groups - 1) / self.groups * squares), self.least_error)


def interval(statistic: Statistic) -> tuple[float, float]:
    """The 95% interval by Student's t, with one degree of freedom less than there are prompts (or
    groups of them).

    Of a correlation or of kappa, the ends are NaN if it is 1 or -1, or undefined without one of the
    parts; they are -1 and 1 if it is 1 or -1 without one. For shares it is Wilson's, for the number
    of independent responses that would have this error: it stays within 0 and 1. If a share is 0 or
    1, the error is zero, and each prompt counts as one response. Source: Dean and Pagano (2015), J.
    Survey Statistics and Methodology 3(4).
    """
    value = statistic.value
    t = t_quantile(statistic.groups - 1)
    if statistic.range == "any":
        return value - t * statistic.error, value + t * statistic.error
    if statistic.range == "correlation":
        if not abs(value) < 1:
            return np.nan, np.nan
        half = t * statistic.error
        return tanh(atanh(value) - half), tanh(atanh(value) + half)
    if value in (0, 1):
        return wilson_ends(value, t**2 / statistic.prompts)
    return wilson_ends(value, (t * statistic.error) ** 2 / (value * (1 - value)))


MIN_PROMPTS = 20
"""With fewer prompts than this there is no interval, because it would claim more than the data support."""


@dataclass(frozen=True)
class Estimate:
    value: float | None
    low: float | None
    high: float | None
    n: int  # the responses (or pairs of responses) that it covers
    prompts: int  # of these
    note: str = ""  # why there is no value, or no interval


def estimate(statistic: Statistic) -> Estimate:
    value = statistic.value
    covers = (statistic.n, statistic.prompts)
    if np.isnan(value):
        return Estimate(None, None, None, *covers, statistic.why_undefined)
    is_enough = statistic.prompts >= MIN_PROMPTS
    low, high = interval(statistic) if is_enough else (np.nan, np.nan)
    if not np.isnan(low):
        return Estimate(value, low, high, *covers)
    is_extreme = statistic.range == "correlation" and abs(value) > 1 - 1e-9
    note = "no spread" if is_enough and is_extreme else "too few to say"
    return Estimate(value, None, None, *covers, note)


def confusion(sample: Sample) -> Ints:
    """The number of responses with each rounded label (row) and score (column); shape (levels,
    levels).
    """
    levels = sample.scale.high - sample.scale.low + 1
    table = np.zeros((levels, levels), dtype=np.int64)
    np.add.at(table, sample.levels, 1)
    return table


def exact_match(sample: Sample) -> Statistic:
    """Share of the responses whose score and label round to the same whole number."""
    people, judge = sample.levels
    return _jackknife(sample, _mean, [people == judge], range="share")


def within_one(sample: Sample) -> Statistic:
    """Share of the responses whose rounded score and label are at most one apart."""
    people, judge = sample.levels
    return _jackknife(sample, _mean, [np.abs(people - judge) <= 1], range="share")


def mean_error(sample: Sample) -> Statistic:
    """Mean of score minus label, not rounded; above 0 the judge is more lenient than people."""
    return _jackknife(sample, _mean, [sample.scores - sample.label], range="any")


def quadratic_weighted_kappa(sample: Sample) -> Statistic:
    """Agreement of score and label beyond chance: 1 is perfect, 0 is chance. Nothing is rounded.

    A small sample can lack rare scores. So the standard error is at least the change from one more
    response on which both agree, counted half at each end of the scale, and at least the error for
    scores unrelated to the labels, which is larger near a kappa of 0.
    """
    x = sample.scores
    y = sample.label
    return _jackknife(sample, _kappa, [x, y], least_error=_least_error(x, y, sample.scale))


def _least_error(x: Floats, y: Floats, scale: Scale) -> float:
    """The standard error that kappa has at least; 0 where all agree."""
    kappa = _kappa(x, y)
    if not abs(kappa) < 1:
        return 0.0
    weights = np.append(np.ones(len(x)), (0.5, 0.5))
    one_more = _kappa(np.append(x, scale), np.append(y, scale), weights)
    spread = x.var() + y.var() + (x.mean() - y.mean()) ** 2
    unrelated = 2 * x.std() * y.std() / sqrt(len(x)) / spread * (1 - kappa**2)
    return float(max(unrelated, abs(atanh(one_more) - atanh(kappa))))


def slope(sample: Sample) -> Statistic:
    """How much higher the judge scores a response that people give a point more.

    A judge's scores squeeze the differences between assistants by this factor. People's own chance
    makes it smaller, so it claims too little rather than too much.
    """

    def figure(x: Floats, y: Floats) -> float:
        if _is_constant(y):
            return np.nan
        covariance = np.cov(x, y)
        return float(covariance[0, 1] / covariance[1, 1])

    return _jackknife(sample, figure, [sample.scores, sample.label], range="any")


def spearman(sample: Sample) -> Statistic:
    """Correlation of the ranks over all responses, not rounded; ties share their mean rank."""
    import scipy.stats  # type: ignore[import-untyped]

    def figure(x: Floats, y: Floats) -> float:
        if _is_constant(x) or _is_constant(y):
            return np.nan
        return float(scipy.stats.spearmanr(x, y).statistic)

    return _jackknife(sample, figure, [sample.scores, sample.label])


def _jackknife(
    sample: Sample,
    figure: Callable[..., float],
    columns: list[Any],
    prompts: Ints | None = None,
    **how: Any,
) -> Statistic:
    """A figure of columns, which have a row for each response, or for each of these prompts."""
    of_rows = sample.prompts if prompts is None else prompts
    groups = sample.group_of[of_rows]
    without = []
    for group in range(min(sample.n_prompts, MOST_GROUPS)):
        is_kept = groups != group
        without.append(figure(*(column[is_kept] for column in columns)))
    n_prompts = len(np.unique(of_rows))
    return Statistic(figure(*columns), np.array(without), len(of_rows), n_prompts, **how)


def _kappa(x: Floats, y: Floats, weights: Floats | None = None) -> float:
    """1 minus the mean squared distance between x and y, divided by that between all x and all y.

    On whole numbers this is Cohen's kappa (1968, Psychological Bulletin 70(4)), on others Lin's
    concordance (1989, Biometrics 45(1)). NaN if all x or all y are equal, because then nothing can
    agree beyond chance.
    """
    if _is_constant(x) or _is_constant(y):
        return np.nan
    covariance = np.cov(x, y, ddof=0, aweights=weights)
    apart = np.average(x - y, weights=weights)
    return float(2 * covariance[0, 1] / (np.trace(covariance) + apart**2))


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else np.nan


def _is_constant(values: Floats) -> bool:
    return not values.size or np.ptp(values) == 0


def _pair_share(order: int, sample: Sample) -> Statistic:
    prompts, orders = sample.pairs
    why = "no prompt's labels differ"
    is_so = [orders == order]
    return _jackknife(sample, _mean, is_so, prompts, range="share", why_undefined=why)


Measure = Callable[[Sample], Statistic]

pairwise_accuracy: Measure = partial(_pair_share, 1)
"""Among pairs of responses to one prompt with different labels, the share that the judge orders as people do."""
pairwise_ties: Measure = partial(_pair_share, 0)
"""Among the same pairs, the share to which the judge gives equal scores."""
pairwise_reversals: Measure = partial(_pair_share, -1)
"""Among the same pairs, the share that the judge orders the other way round."""

MEASURES: Mapping[str, Measure] = {
    "quadratic_weighted_kappa": quadratic_weighted_kappa,
    "within_one": within_one,
    "exact_match": exact_match,
    "spearman": spearman,
    "pairwise_accuracy": pairwise_accuracy,
    "pairwise_ties": pairwise_ties,
    "pairwise_reversals": pairwise_reversals,
    "mean_error": mean_error,
}
