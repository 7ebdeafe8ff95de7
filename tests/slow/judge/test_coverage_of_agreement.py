"""How often the intervals of agreement cover the true figure, in simulated samples."""

from collections.abc import Callable

import numpy as np
import pytest

from bench.agreement import simulate_rare, simulate_strict
from judge.evaluation.agreement.measures import (
    exact_match,
    interval,
    mean_error,
    quadratic_weighted_kappa,
    spearman,
    within_one,
)
from judge.evaluation.agreement.sample import Sample
from tests.judge.agreement.test_jackknife import drawn
from tests.tables import each

pytestmark = pytest.mark.slow

COVERED = (
    quadratic_weighted_kappa,
    spearman,
    exact_match,
    within_one,
    mean_error,
)


def in_two(sample: Sample) -> Sample:
    """The same responses as if to two prompts: each figure stays, and its jackknife leaves out 2
    groups, not 200.
    """
    return Sample(np.arange(len(sample.scores)) % 2, sample.scores, sample.label, sample.scale)


@each("prompts", [20, 100])
def test_intervals_of_agreement_cover_the_true_figure_in_95_percent(prompts: int) -> None:
    # With 400 samples, a coverage of .95 is measured between .929 and .971 in 95 of 100
    # simulations. The truth is that of 60,000 prompts. For comparison, the percentile bootstrap
    # covers .89 (kappa, within one) at 20 prompts.
    rng = np.random.default_rng(16)
    everybody = in_two(drawn(rng, 60_000))
    truth = {measure: measure(everybody).value for measure in COVERED}
    repeats = [drawn(rng, prompts) for _ in range(400)]

    # Rank correlations take 60 times as long as the others, which also show what is wrong with 100
    # prompts.
    for measure in COVERED if prompts < 100 else set(COVERED) - {spearman}:
        intervals = np.array([interval(measure(each)) for each in repeats])
        covered = np.mean((intervals[:, 0] <= truth[measure]) & (truth[measure] <= intervals[:, 1]))
        assert 0.925 <= covered <= 0.975, measure


@each("simulation", [simulate_strict, simulate_rare])
@each("prompts", [20, 40])
def test_intervals_of_kappa_cover_the_true_figure_if_rare_scores_can_be_missing(
    simulation: Callable[[int, np.random.Generator], Sample], prompts: int
) -> None:
    # Without the minimum error, the intervals of kappa cover .86 at 20 prompts of the strict judge,
    # and .62 at 40 prompts with rare zeros. A sample with a single zero has no interval.
    rng = np.random.default_rng(18)
    truth = quadratic_weighted_kappa(in_two(simulation(300_000, rng))).value
    intervals = np.array(
        [interval(quadratic_weighted_kappa(simulation(prompts, rng))) for _ in range(1000)]
    )
    given = intervals[~np.isnan(intervals[:, 0])]
    assert np.mean((given[:, 0] <= truth) & (truth <= given[:, 1])) >= 0.91
