"""Whether the labelled cases are still like all the others, so that what they say holds for these."""

from collections.abc import Mapping
from math import exp, sqrt
from typing import TypeVar

Value = TypeVar("Value", bound=float)

SURE = 0.01
"""Below this p, two samples are called unlike each other."""
_TERMS = 100


def kolmogorov_smirnov(one: Mapping[Value, float], other: Mapping[Value, float]) -> float:
    """The p-value of the two-sample Kolmogorov-Smirnov test: how easily samples of one distribution differ so much.

    Each sample is given as how often it has each value; 1.0 where one is empty. The limiting distribution, with
    Stephens' correction for small samples; equal values make it larger than need be, so that it warns too late rather
    than too early. Source: Stephens (1970), Journal of the Royal Statistical Society B 32(1).
    """
    n, m = sum(one.values()), sum(other.values())
    if not n or not m:
        return 1.0
    gap = largest = 0.0
    for value in sorted({*one, *other}):
        gap += one.get(value, 0) / n - other.get(value, 0) / m
        largest = max(largest, abs(gap))
    root = sqrt(n * m / (n + m))
    scaled = (root + 0.12 + 0.11 / root) * largest
    if scaled < 0.2:
        return 1.0  # where the series does not converge
    return min(1.0, 2 * sum((1 if k % 2 else -1) * exp(-2 * (k * scaled) ** 2) for k in range(1, _TERMS)))
