"""Student's t, Wilson's interval and the error quantile.

SciPy has the first. It is an extra: with NumPy it takes 190 MB, and a second at the start of each
process, for one function.
"""

from collections.abc import Mapping
from functools import cache
from math import cos, pi, sin, sqrt, tan
from statistics import NormalDist

_DUST = 1e-9


@cache
def t_quantile(df: int, tail: float = 0.025) -> float:
    """What Student's t with `df` degrees of freedom (at least 1) exceeds with probability `tail`,
    to six digits.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.3 and 26.7.4;
    26.7.5 beyond 200.
    """
    if df > 200:
        z = NormalDist().inv_cdf(1 - tail)
        return z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)
    low = 0.0
    high = pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        if _two_sided(middle, df) < 1 - 2 * tail:
            low = middle
        else:
            high = middle
    return tan(low) * sqrt(df)


def _two_sided(angle: float, df: int) -> float:
    is_odd = df % 2
    term = cos(angle) if is_odd else 1.0
    total = 0.0 if df == 1 else term
    for power in range(2 + is_odd, df - 1, 2):
        term *= cos(angle) ** 2 * (power - 1) / power
        total += term
    return 2 / pi * (angle + sin(angle) * total) if is_odd else sin(angle) * total


def wilson_ends(share: float, spread: float) -> tuple[float, float]:
    """Wilson's interval of a share; `spread` is the squared quantile over n.

    Source: Wilson (1927), JASA 22.
    """
    half = sqrt(spread * share * (1 - share) + spread**2 / 4)
    return (share + spread / 2 - half) / (1 + spread), (share + spread / 2 + half) / (1 + spread)


def error_quantile(misses: Mapping[tuple[float, float], int]) -> float | None:
    """How far a person's label is from a single score in at least 90% of cases, whatever the
    distributions.

    `misses` counts the labelled cases by |label - score| and the probability of the draw. None if
    there are too few cases: with equal probabilities it takes nine. This is split conformal
    prediction; source: Vovk, Gammerman, Shafer (2005), for judges arXiv 2509.18658, with weights
    arXiv 1904.06019 (the next case weighs as much as the heaviest).
    """
    next_one = max((1 / probability for _, probability in misses), default=0.0)
    total = sum(number / probability for (_, probability), number in misses.items())
    wanted = 0.9 * (total + next_one)
    reached = 0.0
    for (miss, probability), number in sorted(misses.items()):
        reached += number / probability
        if reached >= wanted - _DUST:
            return miss
    return None


SURE = 0.01
"""Below this p-value, two samples are said to differ."""
