"""The measures of agreement with people, or with another judge, and the 95% interval of each.

The intervals are by the jackknife: each prompt is left out once, because responses to one prompt
are not independent. Source: Shao and Tu, The Jackknife and Bootstrap (1995). The same sample always
gives the same interval.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial, reduce
from itertools import repeat
from typing import Any, Literal

import numpy as np

from judge.evaluation.agreement.sample import MOST_GROUPS, Bools, Floats, Ints, Sample
from judge.evaluation.distributions import t_quantile, wilson_ends
from judge.evaluation.kappa import Moments, atanh_interval

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
    least_error: float = 0.0  # of the standard error, on the interval's scale


def interval(statistic: Statistic) -> tuple[float, float]:
    """The 95% interval by Student's t, with one degree of freedom less than there are prompts (or
    groups of them).

    For correlations, kappa and alpha it is computed on the atanh scale, as `atanh_interval` says.
    For shares it is Wilson's, for the number of independent responses that would have this error:
    it stays within 0 and 1. If a share is 0 or 1, the error is zero, and each prompt counts as one
    response. Source: Dean and Pagano (2015), J. Survey Statistics and Methodology 3(4).
    """
    value = statistic.value
    n = min(statistic.prompts, MOST_GROUPS)
    if statistic.range == "correlation":
        return atanh_interval(
            value, zip(statistic.without.tolist(), repeat(1)), n, statistic.least_error
        )
    error = float(np.sqrt((n - 1) / n * np.square(statistic.without - value).sum()))
    t = t_quantile(n - 1)
    if statistic.range == "any":
        return value - t * error, value + t * error
    if error > 0:
        per_quantile = error**2 / (value * (1 - value))
    else:
        per_quantile = 1 / statistic.prompts if value in (0, 1) else 0.0
    return wilson_ends(value, t**2 * per_quantile)


def difference(one: Statistic, other: Statistic) -> Statistic:
    """One figure minus the other, over the same prompts; the error that both share cancels out."""
    undefined = one if np.isnan(one.value) else other
    return Statistic(
        value=one.value - other.value,
        without=one.without - other.without,
        n=min(one.n, other.n),
        prompts=min(one.prompts, other.prompts),
        range="any",
        why_undefined=undefined.why_undefined,
    )


MIN_PROMPTS = 20
"""With fewer prompts than this there is no interval, because it would claim more than the data support."""


@dataclass(frozen=True)
class Estimate:
    value: float  # NaN if the figure is undefined
    low: float  # NaN if there is no interval
    high: float
    n: int  # the responses (or pairs of responses) that it covers
    prompts: int  # of these
    note: str  # why there is no value, or no interval

    def to_dict(self) -> dict[str, Any]:
        """The estimate as a plain dict, ready for `json.dumps`; undefined figures are None."""
        return {name: None if value != value else value for name, value in asdict(self).items()}


def estimate(statistic: Statistic) -> Estimate:
    low = high = np.nan
    note = statistic.why_undefined if np.isnan(statistic.value) else ""
    is_enough = statistic.prompts >= MIN_PROMPTS
    if not note and is_enough:
        low, high = interval(statistic)
    if not note and np.isnan(low):
        is_extreme = statistic.range == "correlation" and abs(statistic.value) > 1 - 1e-9
        note = "no spread" if is_enough and is_extreme else "too few to say"
    return Estimate(statistic.value, low, high, statistic.n, statistic.prompts, note)


def confusion(sample: Sample) -> Ints:
    """The number of responses with each rounded label (row) and score (column); shape (levels,
    levels).
    """
    table = np.zeros((sample.n_levels, sample.n_levels), dtype=np.int64)
    np.add.at(table, sample.levels, 1)
    return table


def exact_match(sample: Sample) -> Statistic:
    """Share of the responses whose score and label round to the same whole number."""
    people, judge = sample.levels
    return _mean(sample, sample.prompts, people == judge)


def within_one(sample: Sample) -> Statistic:
    """Share of the responses whose rounded score and label are at most one apart."""
    people, judge = sample.levels
    return _mean(sample, sample.prompts, np.abs(people - judge) <= 1)


def mean_error(sample: Sample) -> Statistic:
    """Mean of score minus label, not rounded; above 0 the judge is more lenient than people."""
    return _mean(sample, sample.prompts, sample.scores - sample.label, "any")


def quadratic_weighted_kappa(sample: Sample) -> Statistic:
    """Agreement of score and label beyond chance, as `Moments.kappa` defines it; NaN if all of one
    are equal.
    """
    x = sample.scores
    y = sample.label
    return _kappa(sample, np.ones(len(x), dtype=bool), x, y, x * x, y * y, x * y)


def slope(sample: Sample) -> Statistic:
    """How much higher the judge scores a response that people give a point more.

    A judge's scores squeeze the differences between assistants by this factor. People's own chance
    makes it smaller, so it claims too little rather than too much.
    """
    x = sample.scores
    y = sample.label
    groups = _moments_of(sample, np.ones(len(x), dtype=bool), x, y, x * x, y * y, x * y)
    whole = reduce(Moments.plus, groups)
    without = np.array([whole.plus(each, -1).slope for each in groups])
    return Statistic(whole.slope, without, len(x), sample.n_prompts, "any")


def kappa_with_each(sample: Sample) -> Statistic:
    """Weighted kappa of the judge with one person, over the responses with several labels; each
    label makes a pair.
    """
    n, y, yy = sample.label_moments
    x = sample.scores
    return _kappa(sample, n > 1, x, y, x * x, yy, x * y)


def kappa_among_people(sample: Sample) -> Statistic:
    """Weighted kappa of one person with another, over the same responses; every two labels of one
    make a pair.
    """
    n, y, yy = sample.label_moments
    return _kappa(sample, n > 1, y, y, yy, yy, (n * y * y - yy) / np.maximum(n - 1, 1))


def spearman(sample: Sample) -> Statistic:
    """Correlation of the ranks over all responses, not rounded; ties share their mean rank."""
    import scipy.stats  # type: ignore[import-untyped]

    def figure(kept: Bools) -> float:
        x = sample.scores[kept]
        y = sample.label[kept]
        if not (x.size and np.ptp(x) > 0 and np.ptp(y) > 0):
            return np.nan
        return float(scipy.stats.spearmanr(x, y).statistic)

    whole = figure(np.ones(len(sample.scores), dtype=bool))
    without = np.array([figure(sample.groups != group) for group in range(sample.n_groups)])
    return Statistic(whole, without, len(sample.scores), sample.n_prompts)


def _kappa(sample: Sample, counted: Bools, *products: Floats) -> Statistic:
    """Kappa over the `counted` responses, from the x, y, xx, yy and xy of each."""
    groups = _moments_of(sample, counted, *products)
    whole = reduce(Moments.plus, groups)
    without = np.array([whole.plus(each, -1).kappa for each in groups])
    prompts = len(np.unique(sample.prompts[counted]))
    least = whole.least_error(sample.scale)
    return Statistic(whole.kappa, without, int(counted.sum()), prompts, least_error=least)


def _moments_of(sample: Sample, counted: Bools, *products: Floats) -> list[Moments]:
    """The sums over the `counted` responses in each group of prompts."""
    groups = sample.groups[counted]
    sums = [
        np.bincount(groups, each[counted], sample.n_groups)
        for each in (np.ones(len(counted)), *products)
    ]
    return [Moments(*each) for each in np.array(sums).T.tolist()]


def _mean(
    sample: Sample,
    prompts: Ints,
    values: Floats | Bools,
    range_: Range = "share",
    why_undefined: str = "no responses",
) -> Statistic:
    """The mean of values, each with its prompt; both have one shape."""
    groups = sample.group_of[prompts]
    sums = np.bincount(groups, values, sample.n_groups)
    counts = np.bincount(groups, minlength=sample.n_groups)
    with np.errstate(invalid="ignore"):
        value = sums.sum() / counts.sum()
        without = (sums.sum() - sums) / (counts.sum() - counts)
    n_prompts = len(np.unique(prompts))
    return Statistic(float(value), without, len(values), n_prompts, range_, why_undefined)


def _pair_share(order: int, sample: Sample) -> Statistic:
    prompts, orders = sample.pairs
    return _mean(sample, prompts, orders == order, "share", "no prompt's labels differ")


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
