"""Figures of a sample, each with what it is without one group of prompts: what the measures are made of."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple
from itertools import permutations

import numpy as np

from judge.agreement.jackknife import Floats, Ints, Range, Statistic
from judge.agreement.sample import Bools, Sample
from judge.agreement.tables import Cells, alpha_of_tables, divide, of_tables, to_codes

_NO_SPREAD = 1e-9


def mean_statistic(
    sample: Sample, sums: Floats, counts: Floats, range_: Range, why_undefined: str = "no responses"
) -> Statistic:
    """A mean, from each prompt's sum and count; both of shape (prompts,)."""
    value, without = _of_sums(sample, (sums, counts), lambda totals: divide(*totals))
    return Statistic(value, without, int(counts.sum()), int(np.count_nonzero(counts)), range_, why_undefined)


def kappa_statistic(sample: Sample, counted: Bools, moments: Sequence[Floats]) -> Statistic:
    """Quadratic weighted kappa over the `counted` responses, shape (n,), from means of each one's pairs (x, y).

    `moments` are the means of x, y, xx, yy and xy, each of shape (n,). NaN where x or y is the same throughout.
    """
    sums = [sample.sum_by_prompt(np.where(counted, each, 0)) for each in (counted, *moments)]
    value, without = _of_sums(sample, sums, _kappa_of_moments)
    return Statistic(value, without, int(counted.sum()), int(np.count_nonzero(sums[0])))


def rank_statistic(
    sample: Sample, correlate: Callable[[Floats, Floats], float], formula: Callable[[Floats], Floats]
) -> Statistic:
    """A rank correlation of score and label over all responses; NaN where one of them is the same throughout.

    `formula` makes the same of a table of counts. It stands for the error alone: the interval lies round `correlate`'s.
    """
    x, y = sample.scores, sample.label
    value = correlate(x, y) if np.ptp(x) > 0 and np.ptp(y) > 0 else np.nan
    rows, columns = to_codes(x), to_codes(y)
    size = int(max(rows.max(), columns.max())) + 1
    cells = Cells(sample.groups, rows, columns, np.ones(len(rows)))
    whole, without = of_tables(cells, sample.n_groups, size, formula)
    return Statistic(value, without + (value - whole), len(x), sample.n_prompts)


def alpha_statistic(sample: Sample, ratings: Floats) -> Statistic:
    """Krippendorff's ordinal alpha of `ratings`, shape (n, raters), NaN where a rater gave none."""
    import krippendorff

    levels = np.where(np.isnan(ratings), -1, sample.to_levels(np.nan_to_num(ratings)))
    pairable = (levels >= 0).sum(axis=1) > 1
    levels, groups = levels[pairable], sample.groups[pairable]
    value = np.nan
    if np.unique(levels[levels >= 0]).size > 1:
        counts = np.stack([(levels == level).sum(axis=1) for level in range(sample.n_levels)], axis=1)
        value = float(krippendorff.alpha(value_counts=counts, level_of_measurement="ordinal"))
    _, without = of_tables(_coincidences(levels, groups), sample.n_groups, sample.n_levels, alpha_of_tables)
    return Statistic(value, without, len(levels), len(np.unique(sample.prompts[pairable])))


def _of_sums(sample: Sample, by_prompt: Iterable[Floats], formula: Callable[[Floats], Floats]) -> tuple[float, Floats]:
    """What `formula` makes of the sums over all prompts, shape (sums, ...), and over all but each group's."""
    groups = np.stack([np.bincount(sample.group_of, each, sample.n_groups) for each in by_prompt])
    whole = groups.sum(axis=1)
    return float(formula(whole)), formula(whole[:, None] - groups)


def _kappa_of_moments(moments: Floats) -> Floats:
    """1 less the mean squared distance over that of all x with all y, from the sums of 1, x, y, xx, yy and xy."""
    n, *sums = moments
    x, y, xx, yy, xy = (divide(each, n) for each in sums)
    with_spread = np.minimum(xx - x * x, yy - y * y) > _NO_SPREAD
    return np.where(with_spread, 1 - divide(xx + yy - 2 * xy, xx + yy - 2 * x * y), np.nan)


def _coincidences(levels: Ints, groups: Ints) -> Cells:
    """Each ordered pair of ratings of a response, over the number of other ratings that it has; below 0 is none."""
    others = (levels >= 0).sum(axis=1) - 1
    pairs = []
    for first, second in permutations(range(levels.shape[1]), 2):
        both = (levels[:, first] >= 0) & (levels[:, second] >= 0)
        pairs.append(Cells(groups[both], levels[both, first], levels[both, second], 1 / others[both]))
    return Cells(*(np.concatenate(entries) for entries in zip(*map(astuple, pairs), strict=True)))
