"""How far a judge agrees with people, or with another judge. Needs the extra `agreement`.

    sample = Sample(prompts, scores, labels, Scale(0, 5))
    estimate(quadratic_weighted_kappa(sample), sample)

The values come from scikit-learn, krippendorff and scipy.
"""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import permutations

import numpy as np
import numpy.typing as npt

from judge.resampling import (
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
from judge.rubric import Scale
from judge.scores import Scores

Bools = npt.NDArray[np.bool_]

MIN_PROMPTS = 20
"""With fewer prompts than this there is no interval: it would promise more than they can tell."""


@dataclass(frozen=True)
class Sample:
    """Scores and labels of the same responses, at least one.

    Attributes:
        prompts: Shape (n,); responses to one prompt share a number, from 0 up to the number of prompts.
        scores: Shape (n,); the judge's, on `scale`, whole or not.
        labels: Shape (n, people), on `scale`; NaN where a person gave none. At least one for each response.
        scale: Lowest and highest score, both included.
    """

    prompts: Ints
    scores: Floats
    labels: Floats
    scale: Scale

    @cached_property
    def label(self) -> Floats:
        """The mean over the people, shape (n,)."""
        return np.asarray(np.nanmean(self.labels, axis=1)).round(9)

    @cached_property
    def levels(self) -> tuple[Ints, Ints]:
        """The mean label and the score as steps of the scale, from 0; both of shape (n,)."""
        return self.to_levels(self.label), self.to_levels(self.scores)

    @cached_property
    def n_levels(self) -> int:
        """How many whole numbers the scale has."""
        return self.scale.high - self.scale.low + 1

    @cached_property
    def n_prompts(self) -> int:
        """How many prompts the responses belong to."""
        return int(self.prompts.max()) + 1

    def to_levels(self, values: Floats) -> Ints:
        """The nearest step of the scale, from 0; halves go up, as people round."""
        return np.floor(values + (0.5 + 1e-9) - self.scale.low).astype(np.int64)

    def sum_by_prompt(self, values: Floats | Bools) -> Floats:
        """Each prompt's sum of `values`, shape (n,) to (prompts,)."""
        return np.bincount(self.prompts, values, self.n_prompts).astype(float)

    @cached_property
    def pair_orders(self) -> Floats:
        """Each prompt's pairs with different labels, shape (3, prompts).

        Row 0 counts those that the judge scores alike, row 1 those that it orders as people do, row -1 the others.
        """
        orders = np.zeros((3, self.n_prompts))
        by_prompt = np.argsort(self.prompts, kind="stable")
        for gap in range(1, np.bincount(self.prompts).max()):
            first, second = by_prompt[:-gap], by_prompt[gap:]
            people, judge = (np.sign(each[first] - each[second]).astype(int) for each in (self.label, self.scores))
            counted = (self.prompts[first] == self.prompts[second]) & (people != 0)
            np.add.at(orders, ((people * judge)[counted], self.prompts[first][counted]), 1)
        return orders

    @property
    def label_ties(self) -> int:
        """How many pairs of responses to one prompt have equal labels, and so no order to find."""
        responses = np.bincount(self.prompts)
        return int((responses * (responses - 1) // 2).sum() - self.pair_orders.sum())


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


def to_sample(scores: Scores, judge: str, other: str | None = None) -> Sample | None:
    """The responses with a score of `judge` and a label, or one of the judge `other`; None where there are none."""
    rows = []
    for response in scores.responses:
        score = response.scores.get(judge)
        reference = response.labels if other is None else (response.scores.get(other),)
        if score is not None and reference not in ((), (None,)):
            rows.append((response.prompt, score, reference))
    return _to_sample(rows, scores.scale)


def to_people_sample(scores: Scores) -> Sample | None:
    """The responses with several labels, whether scored or not, for `people_alpha`; None where there are none."""
    rows = [(each.prompt, np.nan, each.labels) for each in scores.responses if len(each.labels) > 1]
    return _to_sample(rows, scores.scale)


def _to_sample(rows: Sequence[tuple[str, float, Sequence[float | None]]], scale: Scale) -> Sample | None:
    if not rows:
        return None
    prompts, scores, labels = zip(*rows, strict=True)
    people = max(map(len, labels))
    padded = [[*each, *[None] * (people - len(each))] for each in labels]
    numbers = np.unique(prompts, return_inverse=True)[1]
    return Sample(numbers, np.array(scores, dtype=float), np.array(padded, dtype=float), scale)


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
    return _best_share(sample, sample.scores >= sample.scale.high, f"no score of {sample.scale.high}")


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
