"""The measures of agreement with people, or with another judge, and the interval of each.

    sample = Sample(prompts, scores, labels, Scale(0, 5))
    estimate(quadratic_weighted_kappa(sample), sample).value

The values come from scikit-learn, krippendorff and scipy.
"""

from collections.abc import Callable
from dataclasses import astuple, dataclass
from itertools import permutations

import numpy as np

from judge.agreement.resampling import (
    Cells,
    Floats,
    Ints,
    Statistic,
    alpha_of_tables,
    interval,
    kappa_of_tables,
    mean_statistic,
    rank_statistic,
    resample_tables,
)
from judge.agreement.sample import Bools, Sample

MIN_PROMPTS = 20
"""With fewer prompts than this there is no interval: it would promise more than they can tell."""


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95% interval.

    Attributes:
        value: NaN where it is not defined.
        low: The interval's lower end; NaN where there is none.
        high: The upper end.
        n: How many responses (or pairs of them) it is taken over.
        prompts: How many prompts these belong to.
        note: Why there is no value, or no interval; "" when there are both.
    """

    value: float
    low: float
    high: float
    n: int
    prompts: int
    note: str


def estimate(statistic: Statistic, sample: Sample) -> Estimate:
    """The statistic with its interval; the same sample always gives the same figures."""
    low = high = np.nan
    note = statistic.why_undefined if np.isnan(statistic.value) else ""
    if not note and statistic.prompts >= MIN_PROMPTS:
        low, high = interval(statistic, sample.n_prompts)
    if not note and np.isnan(low):
        note = "too few to say"
    return Estimate(statistic.value, low, high, statistic.n, statistic.prompts, note)


def confusion(sample: Sample) -> Ints:
    """How many responses got each label (row) and each score (column), as whole numbers; shape (levels, levels)."""
    table = np.zeros((sample.n_levels, sample.n_levels), dtype=np.int64)
    np.add.at(table, sample.levels, 1)
    return table


def exact_match(sample: Sample) -> Statistic:
    """Share of the responses with the same whole number from both."""
    people, judge = sample.levels
    return _mean(sample, people == judge)


def within_one(sample: Sample) -> Statistic:
    """Share of the responses with whole numbers at most one apart."""
    people, judge = sample.levels
    return _mean(sample, np.abs(people - judge) <= 1)


def mean_error(sample: Sample) -> Statistic:
    """Mean of score minus label, not rounded: above 0 the judge is the kinder."""
    return _mean(sample, sample.scores - sample.label)


def quadratic_weighted_kappa(sample: Sample) -> Statistic:
    """Agreement beyond chance of two raters on an ordered scale: 1 is perfect, 0 is chance.

    0 where one of them gives a single score throughout, NaN where both give the same one. Source: Cohen (1968),
    Psychological Bulletin 70(4).
    """
    from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

    people, judge = sample.levels
    value = np.nan
    if np.unique(sample.levels).size > 1:
        value = float(cohen_kappa_score(people, judge, labels=np.arange(sample.n_levels), weights="quadratic"))
    cells = Cells(sample.prompts, people, judge, np.ones(len(judge)))
    resample = resample_tables(cells, sample.n_prompts, sample.n_levels, kappa_of_tables)
    return Statistic(value, len(judge), sample.n_prompts, resample)


def krippendorff_alpha(sample: Sample) -> Statistic:
    """Agreement beyond chance of any number of raters on an ordered scale: here the judge and each person.

    NaN where all give a single score throughout. Source: Krippendorff, Content Analysis (2004), chapter 11.
    """
    return _alpha(sample, np.column_stack([sample.labels, sample.scores]))


def people_alpha(sample: Sample) -> Statistic:
    """Krippendorff's alpha of the people alone: as much as can be asked of a judge."""
    return _alpha(sample, sample.labels)


def spearman(sample: Sample) -> Statistic:
    """Correlation of the ranks over all responses, not rounded; ties share their mean rank."""
    from scipy.stats import spearmanr  # type: ignore[import-untyped]

    return rank_statistic(lambda x, y: float(spearmanr(x, y).statistic), sample.scores, sample.label, sample.prompts)


def kendall_tau_b(sample: Sample) -> Statistic:
    """Pairs in the same order less those in the opposite order, corrected for ties, over all responses.

    Source: Kendall (1945), Biometrika 33(3).
    """
    from scipy.stats import kendalltau

    return rank_statistic(lambda x, y: float(kendalltau(x, y).statistic), sample.scores, sample.label, sample.prompts)


def pairwise_accuracy(sample: Sample) -> Statistic:
    """Of the pairs of responses to one prompt with different labels: the share that the judge orders as people do."""
    return _pair_share(sample, 1)


def pairwise_ties(sample: Sample) -> Statistic:
    """Of the same pairs: the share to which the judge gives one score."""
    return _pair_share(sample, 0)


def pairwise_reversals(sample: Sample) -> Statistic:
    """Of the same pairs: the share that the judge orders the other way round."""
    return _pair_share(sample, -1)


def top_best(sample: Sample) -> Statistic:
    """Of the responses with the scale's highest score: the share that people rank highest for their prompt.

    With 5 as the highest, this is "5-best" (arXiv 2401.10020). Prompts whose labels are all equal are left out.
    """
    is_top = sample.scores >= sample.scale.high
    return _best_share(sample, is_top, "labels all equal" if is_top.any() else f"no score of {sample.scale.high}")


def top_best_by_chance(sample: Sample) -> Statistic:
    """The share of all responses that people rank highest for their prompt: `top_best` of a judge that guesses."""
    return _best_share(sample, np.ones(len(sample.scores), dtype=bool), "labels all equal")


Measure = Callable[[Sample], Statistic]

MEASURES: tuple[Measure, ...] = (
    exact_match,
    within_one,
    quadratic_weighted_kappa,
    krippendorff_alpha,
    spearman,
    kendall_tau_b,
    pairwise_accuracy,
    pairwise_ties,
    pairwise_reversals,
    top_best,
    top_best_by_chance,
    mean_error,
)


def _mean(sample: Sample, values: Floats | Bools) -> Statistic:
    return mean_statistic(sample.sum_by_prompt(values), sample.sum_by_prompt(np.ones(len(values))), "no responses")


def _pair_share(sample: Sample, order: int) -> Statistic:
    return mean_statistic(sample.pair_orders[order], sample.pair_orders.sum(axis=0), "no two labels differ")


def _best_share(sample: Sample, chosen: Bools, why_undefined: str) -> Statistic:
    highest, lowest = np.full(sample.n_prompts, -np.inf), np.full(sample.n_prompts, np.inf)
    np.maximum.at(highest, sample.prompts, sample.label)
    np.minimum.at(lowest, sample.prompts, sample.label)
    counted = chosen & (highest > lowest)[sample.prompts]
    is_best = counted & (sample.label == highest[sample.prompts])
    return mean_statistic(sample.sum_by_prompt(is_best), sample.sum_by_prompt(counted), why_undefined)


def _alpha(sample: Sample, ratings: Floats) -> Statistic:
    """The alpha of `ratings`, shape (n, raters), NaN where a rater gave none."""
    import krippendorff

    levels = np.where(np.isnan(ratings), -1, sample.to_levels(np.nan_to_num(ratings)))
    pairable = (levels >= 0).sum(axis=1) > 1
    levels, prompts = levels[pairable], sample.prompts[pairable]
    value = np.nan
    if np.unique(levels[levels >= 0]).size > 1:
        counts = np.stack([(levels == level).sum(axis=1) for level in range(sample.n_levels)], axis=1)
        value = float(krippendorff.alpha(value_counts=counts, level_of_measurement="ordinal"))
    resample = resample_tables(_coincidences(levels, prompts), sample.n_prompts, sample.n_levels, alpha_of_tables)
    return Statistic(value, len(levels), len(np.unique(prompts)), resample)


def _coincidences(levels: Ints, prompts: Ints) -> Cells:
    """Each ordered pair of ratings of a response, over the number of other ratings that it has; below 0 is none."""
    others = (levels >= 0).sum(axis=1) - 1
    pairs = []
    for first, second in permutations(range(levels.shape[1]), 2):
        both = (levels[:, first] >= 0) & (levels[:, second] >= 0)
        pairs.append(Cells(prompts[both], levels[both, first], levels[both, second], 1 / others[both]))
    return Cells(*(np.concatenate(entries) for entries in zip(*map(astuple, pairs), strict=True)))
