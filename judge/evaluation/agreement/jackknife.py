"""95% intervals by the jackknife: each prompt is left out once, because responses to one prompt are not independent.

Source: Shao and Tu, The Jackknife and Bootstrap (1995). The same sample always gives the same interval.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import repeat

import numpy as np
import numpy.typing as npt

from judge.evaluation.kappa import atanh_interval
from judge.evaluation.stats import t_quantile, wilson_ends

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
    """A figure, and its value without each group of prompts."""

    value: float  # NaN if the figure is undefined
    without: Floats  # shape (groups,): without each group of prompts, NaN if undefined, `value` if it has none
    n: int  # the responses (or pairs of responses) that it covers
    prompts: int  # of these
    range: Range = Range.CORRELATION
    why_undefined: str = "one score throughout"  # why `value` is NaN
    least_error: float = 0.0  # of the standard error, on the interval's scale


def interval(statistic: Statistic) -> tuple[float, float]:
    """The 95% interval by Student's t, with one degree of freedom less than there are prompts (or groups of them).

    For correlations, kappa and alpha it is computed on the atanh scale, as `atanh_interval` says. For shares it is
    Wilson's, for the number of independent responses that would have this error: it stays within 0 and 1. If a share is
    0 or 1, the error is zero, and each prompt counts as one response. Source: Dean and Pagano (2015), J. Survey
    Statistics and Methodology 3(4).
    """
    value, n = statistic.value, min(statistic.prompts, MOST_GROUPS)
    if statistic.range is Range.CORRELATION:
        return atanh_interval(value, zip(statistic.without.tolist(), repeat(1)), n, statistic.least_error)
    error = float(np.sqrt((n - 1) / n * np.square(statistic.without - value).sum()))
    if statistic.range is Range.ANY:
        return value - t_quantile(n - 1) * error, value + t_quantile(n - 1) * error
    if error > 0:
        per_quantile = error**2 / (value * (1 - value))
    else:
        per_quantile = 1 / statistic.prompts if value in (0, 1) else 0.0
    return wilson_ends(value, t_quantile(n - 1) ** 2 * per_quantile)


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
