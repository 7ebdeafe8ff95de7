"""Formulas of tables of counts, many tables at once: what alpha and the rank correlations are without each group.

The libraries that give the values take one sample at a time, which would take minutes for 1,000 of them. The tests hold
the two forms together.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judge.agreement.jackknife import Floats, Ints

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
    """The mean rank of each value, from how often it occurs, less a half."""
    return np.asarray(counts.cumsum(-1) - counts / 2)
