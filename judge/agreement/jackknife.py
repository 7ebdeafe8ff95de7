"""95% intervals by the jackknife: each prompt is left out once, since responses to one prompt are not independent.

Source: Shao and Tu, The Jackknife and Bootstrap (1995). There are no draws: the same sample always gives the same
interval.

The formulas of tables of counts give what alpha and the rank correlations are without each group: the libraries that
give the values take one sample at a time, which would take minutes for 1,000 of them. The tests hold the two together.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_GROUPS = 1000
"""More prompts than this are left out in groups: a thousand pieces tell the error to 2%."""

_LEVEL = 0.975


class Range(StrEnum):
    """Where a figure can lie, which is how its interval is made."""

    ANY = "any"
    SHARE = "share"
    CORRELATION = "correlation"


@dataclass(frozen=True)
class Statistic:
    """A figure, and what it is without each group of prompts.

    Attributes:
        value: NaN where it is not defined.
        without: Shape (groups,): the value without each group, NaN where it is not defined without it. A group that
            the figure is not taken over has `value`.
        n: How many responses (or pairs of them) it is taken over.
        prompts: How many prompts these belong to.
        range: Where it can lie.
        why_undefined: The reason to give when `value` is NaN.
    """

    value: float
    without: Floats
    n: int
    prompts: int
    range: Range = Range.CORRELATION
    why_undefined: str = "one score throughout"


def interval(statistic: Statistic) -> tuple[float, float]:
    """The 95% interval, by Student's t with one degree of freedom less than there are prompts (or groups of them).

    Correlations and what resembles them, kappa and alpha, are taken on the scale of atanh (Fisher 1915). NaN where the
    value is 1 or -1, or where it hangs on a single prompt, without which it is not defined.
    """
    if statistic.range is Range.SHARE:
        return _wilson(statistic)
    if statistic.range is Range.ANY:
        half = _quantile(statistic) * _error(statistic, statistic.value, statistic.without)
        return statistic.value - half, statistic.value + half
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.arctanh(statistic.value)
        half = _quantile(statistic) * _error(statistic, middle, np.arctanh(statistic.without))
        return float(np.tanh(middle - half)), float(np.tanh(middle + half))


def difference(one: Statistic, other: Statistic) -> Statistic:
    """One figure less the other, both of the same prompts: what they share does not count as error."""
    undefined = one if np.isnan(one.value) else other
    return Statistic(
        value=one.value - other.value,
        without=one.without - other.without,
        n=min(one.n, other.n),
        prompts=min(one.prompts, other.prompts),
        range=Range.ANY,
        why_undefined=undefined.why_undefined,
    )


def _groups(statistic: Statistic) -> int:
    return min(statistic.prompts, MOST_GROUPS)


def _quantile(statistic: Statistic) -> float:
    from scipy.special import stdtrit  # type: ignore[import-untyped]

    return float(stdtrit(_groups(statistic) - 1, _LEVEL))


def _error(statistic: Statistic, value: float, without: Floats) -> float:
    groups = _groups(statistic)
    return float(np.sqrt((groups - 1) / groups * np.square(without - value).sum()))


def _wilson(statistic: Statistic) -> tuple[float, float]:
    """Wilson's interval with as many responses as would have this error if they were independent.

    It stays within 0 and 1. Where all are alike there is no error to go by, and each prompt counts as one response.
    Source: Wilson (1927), JASA 22; for clusters Dean and Pagano (2015), J. Survey Statistics and Methodology 3(4).
    """
    share, error = statistic.value, _error(statistic, statistic.value, statistic.without)
    if error > 0:
        per_quantile = error**2 / (share * (1 - share))
    else:
        per_quantile = 1 / statistic.prompts if share in (0, 1) else 0.0
    spread = _quantile(statistic) ** 2 * per_quantile
    middle = (share + spread / 2) / (1 + spread)
    half = np.sqrt(spread * share * (1 - share) + spread**2 / 4) / (1 + spread)
    return float(middle - half), float(middle + half)


MOST_VALUES = 128
"""Of more different values than these, neighbours are put together: for the error alone, which hardly changes."""

_TABLES_AT_ONCE = 50


@dataclass(frozen=True)
class Cells:
    """Entries of one table for each group of prompts.

    Attributes:
        groups, rows, columns: Where each entry stands; shape (entries,). Entries of one cell add up.
        weights: What each entry counts; shape (entries,).
    """

    groups: Ints
    rows: Ints
    columns: Ints
    weights: Floats


def of_tables(cells: Cells, n_groups: int, size: int, formula: Callable[[Floats], Floats]) -> tuple[float, Floats]:
    """What `formula` makes of all groups' tables together, and without each group's: a value and shape (groups,)."""
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

    where = (cells.groups, cells.rows * size + cells.columns)
    tables = csr_array((cells.weights, where), shape=(n_groups, size**2))
    whole = tables.sum(axis=0)
    portions = (tables[start : start + _TABLES_AT_ONCE].toarray() for start in range(0, n_groups, _TABLES_AT_ONCE))
    without = [formula((whole - each).reshape(-1, size, size)) for each in portions]
    return float(formula(whole.reshape(size, size))), np.concatenate(without)


def to_codes(values: Floats) -> Ints:
    """The values' order as numbers from 0, shape (n,); of more than 128 different ones, neighbours share a number."""
    codes = np.unique(values, return_inverse=True)[1]
    if codes.max() < MOST_VALUES:
        return codes
    # By rank, so that about as many responses come under each number.
    places = np.bincount(codes).cumsum() - 1
    return np.asarray(places * MOST_VALUES // len(values))[codes]


def alpha_of_tables(tables: Floats) -> Floats:
    """Krippendorff's ordinal alpha of each coincidence matrix: shape (..., levels, levels) to (...).

    The distance of two levels is the number of ratings between their middles.
    """
    ratings = tables.sum(-1)
    by_chance = divide(ratings[..., :, None] * ratings[..., None, :], (ratings.sum(-1) - 1)[..., None, None])
    middles = _middles(ratings)
    distance = np.square(middles[..., :, None] - middles[..., None, :])
    return 1 - divide((tables * distance).sum((-1, -2)), (by_chance * distance).sum((-1, -2)))


def spearman_of_tables(tables: Floats) -> Floats:
    """Spearman's correlation of rows and columns: shape (..., values, values) to (...); ties share their mean rank."""
    rows, columns = tables.sum(-1), tables.sum(-2)
    half = rows.sum(-1)[..., None] / 2
    down, across = _middles(rows) - half, _middles(columns) - half
    together = (np.matmul(tables, across[..., None])[..., 0] * down).sum(-1)
    return divide(together, np.sqrt((rows * down**2).sum(-1) * (columns * across**2).sum(-1)))


def kendall_of_tables(tables: Floats) -> Floats:
    """Kendall's tau-b of rows and columns: shape (..., values, values) to (...)."""
    above = tables.cumsum(-2) - tables
    up_to = above.cumsum(-1)
    left_less_right = 2 * up_to - above - up_to[..., -1:]
    rows, columns = tables.sum(-1), tables.sum(-2)
    square = np.square(rows.sum(-1))
    untied = (square - np.square(rows).sum(-1)) * (square - np.square(columns).sum(-1)) / 4
    return divide((tables * left_less_right).sum((-1, -2)), np.sqrt(untied))


def divide(dividend: npt.ArrayLike, divisor: npt.ArrayLike) -> Floats:
    """The quotient; NaN for nothing by nothing, without a warning."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.divide(dividend, divisor))


def _middles(counts: Floats) -> Floats:
    return np.asarray(counts.cumsum(-1) - counts / 2)
