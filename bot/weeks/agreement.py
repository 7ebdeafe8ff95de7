"""How far the judge agrees with people's labels: the measures of `judge agreement` that a digest has room for."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import floor

from bot.store.figures import LabelledCount


@dataclass(frozen=True)
class Agreement:
    """The judge against people's labels; a case's label is the mean of its labels, halves rounded up.

    Attributes:
        n: Cases with a score and a label.
        exact: Share of them with the same number.
        within_one: Share with numbers at most one apart.
        kappa: Quadratic weighted kappa; None where one of them gave one number throughout.
        labels: How many people's labels that are: a case may have several.
    """

    n: int
    exact: float
    within_one: float
    kappa: float | None
    labels: int


def to_agreement(rows: Iterable[LabelledCount]) -> Agreement | None:
    """The agreement in what `Tallies.labelled` gives; None without a label."""
    pairs, labels = Counter[tuple[int, int]](), 0
    for row in rows:
        labels += row.people * row.number
        label = floor(row.total / row.people + 0.5)
        pairs[row.score, label] += row.number
    n = sum(pairs.values())
    if not n:
        return None
    exact = sum(count for (score, label), count in pairs.items() if score == label)
    near = sum(count for (score, label), count in pairs.items() if abs(score - label) <= 1)
    return Agreement(n, exact / n, near / n, weighted_kappa(pairs), labels)


def to_scores(rows: Iterable[LabelledCount]) -> Mapping[int, int]:
    """How many of the labelled cases have which score."""
    counts = Counter[int]()
    for row in rows:
        counts[row.score] += row.number
    return counts


def weighted_kappa(pairs: Mapping[tuple[int, int], int]) -> float | None:
    """Agreement beyond chance of two raters on an ordered scale; 1 is perfect, 0 is chance.

    `pairs` counts how often the first rater gave one number and the second the other. None where one of them gave one
    number throughout. The tests hold it to `judge.agreement`, whose libraries the bot can do without. Source: Cohen
    (1968), Psychological Bulletin 70(4).
    """
    n = sum(pairs.values())
    first, second = Counter[int](), Counter[int]()
    for (one, other), count in pairs.items():
        first[one] += count
        second[other] += count
    observed = sum(count * (one - other) ** 2 for (one, other), count in pairs.items())
    expected = sum(a * b * (one - other) ** 2 for one, a in first.items() for other, b in second.items()) / max(n, 1)
    return 1 - observed / expected if min(len(first), len(second)) > 1 else None
