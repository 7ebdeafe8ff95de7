"""95% intervals by the cluster bootstrap: whole prompts are drawn, since responses to one are not independent.

Kappa and alpha stand here a second time, vectorised over the 2,000 resamples: the libraries that give their values
would take 20 seconds for 10,000 responses. The tests hold the two forms together.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_DRAWS = 2000
_DRAWS_AT_ONCE = 100
_SEED = 0
_MOST_UNDEFINED = 0.05


@dataclass(frozen=True)
class Statistic:
    """A figure, and how to work it out again on a resample.

    Attributes:
        value: NaN where it is not defined.
        n: How many responses (or pairs of them) it is taken over.
        prompts: How many prompts these belong to.
        resample: How often each prompt is drawn, shape (draws, prompts), to the values, shape (draws,).
        why_undefined: The reason to give when `value` is NaN.
    """

    value: float
    n: int
    prompts: int
    resample: Callable[[Ints], Floats]
    why_undefined: str = "one score throughout"


def interval(statistic: Statistic, n_prompts: int) -> tuple[float, float]:
    """The 2.5th and 97.5th percentile of 2,000 resamples, the same ones each time.

    NaN where the statistic is not defined on more than 5% of them.
    """
    values = np.concatenate([statistic.resample(draws) for draws in _draw(n_prompts)])
    defined = values[~np.isnan(values)]
    if len(defined) < (1 - _MOST_UNDEFINED) * len(values):
        return np.nan, np.nan
    low, high = np.quantile(defined, [0.025, 0.975])
    return float(low), float(high)


def mean_statistic(sums: Floats, counts: Floats, why_undefined: str) -> Statistic:
    """A mean, from each prompt's sum and count; both of shape (prompts,)."""

    def resample(draws: Ints) -> Floats:
        return _divide(draws @ sums, draws @ counts)

    value = float(_divide(sums.sum(), counts.sum()))
    return Statistic(value, int(counts.sum()), int(np.count_nonzero(counts)), resample, why_undefined)


def rank_statistic(correlate: Callable[[Floats, Floats], float], x: Floats, y: Floats, prompts: Ints) -> Statistic:
    """A rank correlation of `x` and `y`, shape (n,); NaN where one of them is constant."""

    def correlate_varied(x: Floats, y: Floats) -> float:
        return correlate(x, y) if np.ptp(x) > 0 and np.ptp(y) > 0 else np.nan

    def resample(draws: Ints) -> Floats:
        picks = (np.repeat(everything, draw[prompts]) for draw in draws)
        return np.array([correlate_varied(x[pick], y[pick]) for pick in picks])

    everything = np.arange(len(x))
    return Statistic(correlate_varied(x, y), len(x), len(np.unique(prompts)), resample)


@dataclass(frozen=True)
class Cells:
    """Entries of one table for each prompt, whose rows and columns are the levels of a scale.

    Attributes:
        prompts, rows, columns: Where each entry stands; shape (entries,). Entries of one cell add up.
        weights: What each entry counts; shape (entries,).
    """

    prompts: Ints
    rows: Ints
    columns: Ints
    weights: Floats


def resample_tables(
    cells: Cells, n_prompts: int, n_levels: int, formula: Callable[[Floats], Floats]
) -> Callable[[Ints], Floats]:
    """What `formula` makes of the sum of the drawn prompts' tables, for `Statistic.resample`."""
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

    where = (cells.prompts, cells.rows * n_levels + cells.columns)
    tables = csr_array((cells.weights, where), shape=(n_prompts, n_levels**2))
    return lambda draws: formula((draws @ tables).reshape(-1, n_levels, n_levels))


def kappa_of_tables(tables: Floats) -> Floats:
    """Quadratic weighted kappa of each confusion matrix: shape (..., levels, levels) to (...)."""
    rows, columns = tables.sum(-1), tables.sum(-2)
    by_chance = rows[..., :, None] * columns[..., None, :] / rows.sum(-1)[..., None, None]
    levels = np.arange(tables.shape[-1])
    return _beyond_chance(tables, by_chance, np.square(levels[:, None] - levels))


def alpha_of_tables(tables: Floats) -> Floats:
    """Krippendorff's ordinal alpha of each coincidence matrix: shape (..., levels, levels) to (...).

    The distance of two levels is the number of ratings between their middles.
    """
    ratings = tables.sum(-1)
    by_chance = ratings[..., :, None] * ratings[..., None, :] / (ratings.sum(-1) - 1)[..., None, None]
    middles = ratings.cumsum(-1) - ratings / 2
    return _beyond_chance(tables, by_chance, np.square(middles[..., :, None] - middles[..., None, :]))


def _beyond_chance(observed: Floats, by_chance: Floats, distance: Floats | Ints) -> Floats:
    return 1 - _divide((observed * distance).sum((-1, -2)), (by_chance * distance).sum((-1, -2)))


def _draw(n_prompts: int) -> Iterator[Ints]:
    """How often each prompt is drawn, in portions of shape (100, prompts)."""
    generator = np.random.default_rng(_SEED)
    for _ in range(_DRAWS // _DRAWS_AT_ONCE):
        picks = generator.integers(n_prompts, size=(_DRAWS_AT_ONCE, n_prompts))
        yield np.stack([np.bincount(pick, minlength=n_prompts) for pick in picks])


def _divide(dividend: npt.ArrayLike, divisor: npt.ArrayLike) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.divide(dividend, divisor))
