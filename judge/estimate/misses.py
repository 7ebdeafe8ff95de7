"""How far a single score may be from what a person would say."""

from collections.abc import Mapping
from itertools import accumulate

_COVERED = 0.9
_DUST = 1e-9


def plus_minus(misses: Mapping[tuple[float, float], int]) -> float | None:
    """How far from a single score a person's label is in at least 90% of the cases, however the two are distributed.

    `misses` counts the labelled cases by |label - score| and the probability of the draw. None where they are too few
    to say: with equal probabilities it takes nine. This is split conformal prediction; source: Vovk, Gammerman, Shafer
    (2005), for judges arXiv 2509.18658, with weights arXiv 1904.06019 (the next case weighs as much as the heaviest).
    """
    weights = [(miss, number / probability) for (miss, probability), number in sorted(misses.items())]
    next_one = max((1 / probability for _, probability in misses), default=0.0)
    wanted = _COVERED * (sum(weight for _, weight in weights) + next_one)
    for (miss, _), reached in zip(weights, accumulate(weight for _, weight in weights), strict=True):
        if reached >= wanted - _DUST:
            return miss
    return None
