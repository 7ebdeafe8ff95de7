"""Triangular matrices, each row up to its diagonal."""

from collections.abc import Sequence
from math import sqrt
from operator import mul

Rows = list[list[float]]
"""A symmetric or triangular matrix."""


def to_factor(rows: Rows) -> Rows:
    """The lower triangular matrix whose product with its transpose this is (Cholesky)."""
    factor: Rows = []
    for row in rows:
        solved = solve(factor, row)
        solved.append(sqrt(row[-1] - dot(solved, solved)))
        factor.append(solved)
    return factor


def solve(factor: Rows, values: Sequence[float]) -> list[float]:
    """What the factor times it gives the values, as many of them as it has rows."""
    solved: list[float] = []
    for row, value in zip(factor, values, strict=False):
        solved.append((value - dot(row, solved)) / row[-1])
    return solved


def dot(row: Sequence[float], other: Sequence[float]) -> float:
    """The inner product, as far as both go."""
    product: float = sum(map(mul, row, other))
    return product
