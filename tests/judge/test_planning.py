"""Promises of what more labels would tell, against what they then told."""

import random
from math import sqrt
from statistics import fmean, stdev

import pytest
from scipy import stats  # type: ignore[import-untyped]

from judge.evaluation.planning import more_to_see, to_be_seen, within
from judge.evaluation.stats import Interval, MeanEstimate, MeanEstimator
from judge.scoring.rubric import Scale
from tests.tables import each


def drawn(generator: random.Random, labels: int) -> MeanEstimate:
    """Of 500 scores that are up to two points off, so many with a label."""
    mean = MeanEstimator(Scale(0, 5))
    for number in range(500):
        label = generator.choices(range(6), (1, 4, 10, 10, 4, 1))[0]
        score = min(max(label + generator.choice((-2, -1, 0, 0, 1, 2)), 0), 5)
        mean.add(score, label if number < labels else None)
    return mean.estimate()


@each("labels", [8, 30])
def test_the_width_that_more_labels_have_is_the_one_that_was_promised(labels: int) -> None:
    generator = random.Random(3)
    promised = [within(drawn(generator, labels), 50) for _ in range(60)]
    came = [within(drawn(generator, labels + 50), 0) for _ in range(60)]
    assert fmean(promised) == pytest.approx(fmean(came), rel=0.15)


@each("n", [4, 30])
def test_few_pairs_see_a_drop_as_often_as_is_said(n: int) -> None:
    generator = random.Random(4)
    t = stats.t.ppf(0.975, n - 1)

    def drawn_pairs() -> tuple[float, float]:
        values = [generator.gauss() for _ in range(n)]
        return fmean(values), t * stdev(values) / sqrt(n)

    clear = 0
    for _ in range(1000):
        _, half = drawn_pairs()
        drop = to_be_seen(Interval(0, -half, half), n) or 0
        change, half = drawn_pairs()
        clear += change - drop + half < 0
    # By a normal test it is 54 to 78%, by the noncentral t of a known error 67 to 78%.
    assert 0.74 <= clear / 1000 <= 0.82


def test_how_many_pairs_would_show_a_drop_is_what_they_then_see() -> None:
    few = Interval(-3.3, -7.1, 0.5)
    more = more_to_see(few, 3, 1.0)
    # The standard deviation is 3.8 / 4.30 * sqrt(3) = 1.53.
    t = stats.t.ppf(0.975, more - 1)
    half = 1.53 / sqrt(more) * t
    assert to_be_seen(Interval(0, -half, half), more) == pytest.approx(1.0, abs=0.03)
    assert more_to_see(few, 3, 0.001) is None
    assert to_be_seen(Interval(0.2, None, None), 1) is None
