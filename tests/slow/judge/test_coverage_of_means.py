"""How often the intervals of corrected means cover the truth, in simulated samples."""

from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from judge.scoring.rubric import Scale
from tests.judge.test_stats import SCALE, Row, corrected
from tests.tables import each

pytestmark = pytest.mark.slow

# Coverage: how often the interval of 1,000 samples covers the true mean. Its standard error is 0.7
# percentage points.
SAMPLES = 1000
# With few labels the rule of three leaves room for unseen scores, so the intervals cover more than
# 95%.
FEW = 0.99
Pair = tuple[float, float]


def to_pair(random: Random, kindness: float, judge: float, noise: float) -> Pair:
    """A correlated label and score, as whole numbers on the scale."""
    quality = random.gauss(0, 1)
    label = round(2.9 + 1.2 * quality)
    score = round(2.9 + kindness + judge * quality + noise * random.gauss(0, 1))
    return min(max(label, 0), 5), min(max(score, 0), 5)


def covered(draw: Callable[[Random], list[Row]], truth: float, scale: Scale = SCALE) -> float:
    random = Random(20261122)
    hits = 0
    for _ in range(SAMPLES):
        found = corrected(*draw(random), scale=scale)
        hits += found.low <= truth <= found.high
    return hits / SAMPLES


JUDGES = {
    "kind": (0.8, 1.0, 0.6),
    "lenient and vague": (1.2, 0.4, 1.0),
    "compressed": (0.5, 0.4, 0.3),
}


@each(("judge", "n"), [*((judge, 20) for judge in JUDGES), ("kind", 100)])
def test_interval_of_the_mean_covers_95_percent(judge: str, n: int) -> None:
    pairs = [to_pair(Random(seed), *JUDGES[judge]) for seed in range(5000)]

    def draw(random: Random) -> list[Row]:
        return [
            Row(score, label if i < n else None)
            for i, (label, score) in enumerate(random.choices(pairs, k=4 * n))
        ]

    assert (
        0.93
        <= covered(draw, sum(label for label, _ in pairs) / len(pairs))
        <= (0.97 if n == 100 else FEW)
    )


def draw_unequally(pairs: list[Pair], random: Random, *, weighs: bool) -> list[Row]:
    """Labels bad responses four times as often as the others."""
    rows = []
    for label, score in random.choices(pairs, k=240):
        probability = 0.4 if label <= 2 else 0.1
        is_drawn = random.random() < probability
        rows.append(Row(score, label if is_drawn else None, probability if weighs else 1.0))
    return rows


def test_interval_covers_95_percent_with_unequal_draws() -> None:
    pairs = [to_pair(Random(seed), *JUDGES["lenient and vague"]) for seed in range(5000)]
    truth = sum(label for label, _ in pairs) / len(pairs)

    assert 0.93 <= covered(partial(draw_unequally, pairs, weighs=True), truth) <= 0.97
    assert covered(partial(draw_unequally, pairs, weighs=False), truth) < 0.93


def test_interval_covers_95_percent_if_cases_share_a_thread() -> None:
    def draw(random: Random, *, knows_threads: bool) -> list[Row]:
        rows = []
        for thread in range(120):
            shared = random.gauss(0, 1)
            for _ in range(4):
                label = 3 + 0.7 * shared + 0.5 * random.gauss(0, 1)
                score = 3 + 0.3 * shared + 0.7 * random.gauss(0, 1)
                cluster = thread if knows_threads else None
                rows.append(Row(score, label if thread < 30 else None, 1.0, cluster))
        return rows

    wide = Scale(0, 6)
    assert covered(partial(draw, knows_threads=True), 3, wide) >= 0.93
    assert covered(partial(draw, knows_threads=False), 3, wide) < 0.8
