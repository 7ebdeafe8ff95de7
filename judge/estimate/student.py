"""Student's t without a library: scipy has it, but is 100 MB that the app can do without."""

from functools import cache
from math import cos, pi, sin, sqrt, tan

_MOST_EXACT = 200
_Z = 1.959963984540054
_HALVINGS = 60


@cache
def t_quantile(df: int) -> float:
    """The 97.5th percentile of Student's t with `df` degrees of freedom, at least 1; right to six digits.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.3 and 26.7.4; 26.7.5 beyond 200.
    """
    if df > _MOST_EXACT:
        return _Z + (_Z**3 + _Z) / (4 * df) + (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * df**2)
    low, high = 0.0, pi / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _two_sided(middle, df) < 0.95 else (low, middle)
    return tan(low) * sqrt(df)


def _two_sided(angle: float, df: int) -> float:
    """The probability of |t| < tan(angle) * sqrt(df)."""
    is_odd = df % 2
    term = cos(angle) if is_odd else 1.0
    total = 0.0 if df == 1 else term
    for power in range(2 + is_odd, df - 1, 2):
        term *= cos(angle) ** 2 * (power - 1) / power
        total += term
    return 2 / pi * (angle + sin(angle) * total) if is_odd else sin(angle) * total
