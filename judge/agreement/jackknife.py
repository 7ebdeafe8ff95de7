"""95% intervals by the jackknife: each prompt is left out once, since responses to one prompt are not independent.

Source: Shao and Tu, The Jackknife and Bootstrap (1995). There are no draws: the same sample always gives the same
interval.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_GROUPS = 200
"""More prompts than this are left out in groups: two hundred pieces tell the error to 5%."""


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
        least_error: The least standard error of an interval, on the scale on which it is made.
    """

    value: float
    without: Floats
    n: int
    prompts: int
    range: Range = Range.CORRELATION
    why_undefined: str = "one score throughout"
    least_error: float = 0.0


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


def _quantile(statistic: Statistic) -> float:
    from scipy.special import stdtrit  # type: ignore[import-untyped]

    return float(stdtrit(min(statistic.prompts, MOST_GROUPS) - 1, 0.975))


def _error(statistic: Statistic, value: float, without: Floats) -> float:
    groups = min(statistic.prompts, MOST_GROUPS)
    error = float(np.sqrt((groups - 1) / groups * np.square(without - value).sum()))
    return max(error, statistic.least_error)


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
