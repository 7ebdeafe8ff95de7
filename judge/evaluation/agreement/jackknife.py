"""95% intervals by the jackknife: each prompt is left out once, because responses to one prompt are not independent.

Source: Shao and Tu, The Jackknife and Bootstrap (1995). The same sample always gives the same interval.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_GROUPS = 200
"""Above this number, prompts are left out in groups: 200 groups estimate the standard error to about 5%."""


class Range(StrEnum):
    """The values that a figure can take, which decide how its interval is computed."""

    ANY = "any"
    SHARE = "share"
    CORRELATION = "correlation"


@dataclass(frozen=True)
class Statistic:
    """A figure, and its value without each group of prompts.

    Attributes:
        value: NaN if the figure is undefined.
        without: Shape (groups,): the value without each group, NaN if the figure is undefined without it. For a group
            that the figure does not cover, this is `value`.
        n: The number of responses (or pairs of responses) that it covers.
        prompts: The number of prompts that these belong to.
        range: The values that it can take.
        why_undefined: The reason to give when `value` is NaN.
        least_error: A lower limit for the standard error, on the scale on which the interval is computed.
    """

    value: float
    without: Floats
    n: int
    prompts: int
    range: Range = Range.CORRELATION
    why_undefined: str = "one score throughout"
    least_error: float = 0.0


def interval(statistic: Statistic) -> tuple[float, float]:
    """The 95% interval by Student's t, with one degree of freedom less than there are prompts (or groups of them).

    For correlations, kappa and alpha it is computed on the atanh scale (Fisher 1915). NaN if the value is 1 or -1, or
    if the figure is undefined without one of the prompts.
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
    """One figure minus the other, over the same prompts; the error that both share cancels out."""
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
    """Wilson's interval, for the number of independent responses that would have this error.

    It stays within 0 and 1. If the share is 0 or 1, the error is zero, and each prompt counts as one response.
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
