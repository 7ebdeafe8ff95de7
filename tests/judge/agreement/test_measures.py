import numpy as np
import pytest

from judge.evaluation.agreement.measures import (
    MEASURES,
    Measure,
    confusion,
    estimate,
    exact_match,
    mean_error,
    pairwise_accuracy,
    pairwise_reversals,
    pairwise_ties,
    quadratic_weighted_kappa,
    slope,
    spearman,
    within_one,
)
from judge.evaluation.agreement.sample import Sample
from judge.scoring.rubric import Scale
from tests.tables import each


def sample_of(
    scores: list[float],
    labels: list[float],
    prompts: list[int] | None = None,
    high: int = 5,
) -> Sample:
    return Sample(
        np.array(prompts or range(len(scores))),
        np.array(scores, dtype=float),
        np.array(labels, dtype=float),
        Scale(min(high - 1, 0), high),
    )


# Three prompts with 3, 2 and 2 responses.
MIXED = sample_of([5, 3, 1, 5, 5, 2, 0], [4, 3, 3, 5, 2, 1, 1], [0, 0, 0, 1, 1, 2, 2])


TURNED = sample_of([4, 0, 4], [1, 3, 2], [0, 0, 0])
SCALE_TO_2 = sample_of([0, 1, 2, 2], [0, 1, 1, 2], high=2)


@each(
    ("measure", "sample", "value"),
    [
        # The 2nd (3, 3) and the 4th (5, 5) are equal: 2 of 7.
        (exact_match, MIXED, 2 / 7),
        # Distances 1, 0, 2, 0, 3, 1, 1: five of seven are at most 1.
        (within_one, MIXED, 5 / 7),
        # (1 + 0 - 2 + 0 + 3 + 1 - 1) / 7: above 0 for a lenient judge
        (mean_error, MIXED, 2 / 7),
        # Observed squared distances: 0 0 1 0, sum 1.
        # Expected: judge has 0:1 1:1 2:2, people 0:1 1:2 2:1. The sum of squared distances over all
        # 16 combinations: 0 against people 0+1+1+4 = 6, 1: 1+0+0+1 = 2, 2 (twice): 4+1+1+0 = 6
        # each, in total 20; divided by n = 4: 5.
        (quadratic_weighted_kappa, SCALE_TO_2, 1 - 1 / 5),
        # Nothing is rounded: scores 2.4 and 3.6, labels 2 and 4. Observed:
        # (.16 + .16) / 2 = .16. By chance: 2.4-2 .16, 2.4-4 2.56, 3.6-2 2.56, 3.6-4 .16; divided by
        # 4: 1.36. With rounding, both would be 2 and 4, and kappa 1.
        (quadratic_weighted_kappa, sample_of([2.4, 3.6], [2, 4]), 1 - 0.16 / 1.36),
        # Scores 0 1 5 for labels 0 2 4: sums 6, 6 and 22, squares 20: (3 * 22 - 36) / (3 * 20 - 36).
        (slope, sample_of([0, 1, 5], [0, 2, 4]), 30 / 24),
        # Ranks of the judge 1 2 3 4, of people 1 3 2 4.
        (spearman, sample_of([0, 1, 2, 5], [0, 3, 2, 4]), 1 - 6 * (0 + 1 + 1 + 0) / (4 * 15)),
        # Ties share their mean rank: judge 1.5 1.5 3, people 1 2 3. Deviations -.5 -.5 1 and -1 0
        # 1.
        (spearman, sample_of([1, 1, 3], [1, 2, 3]), 1.5 / (1.5 * 2) ** 0.5),
        # Pairs are those of one prompt with different labels. Prompt 0: labels 4 3 3 make two, with
        # scores 5 > 3 and 5 > 1, both right. Prompt 1: labels 5 2, scores 5 5: tied. Prompt 2:
        # labels 1 1: none.
        (pairwise_accuracy, MIXED, 2 / 3),
        (pairwise_ties, MIXED, 1 / 3),
        # Labels 1 < 3, 1 < 2, 3 > 2; scores 4 > 0, 4 = 4, 0 < 4: wrong, tied, wrong.
        (pairwise_reversals, TURNED, 2 / 3),
    ],
)
def test_each_measure_is_the_sum_worked_by_hand(
    measure: Measure, sample: Sample, value: float
) -> None:
    assert measure(sample).value == pytest.approx(value)


def test_levels_count_from_the_lowest_score() -> None:
    sample = Sample(np.array([0, 1]), np.array([1.0, 3.0]), np.array([2.0, 3.0]), Scale(1, 3))
    assert confusion(sample).tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 1]]


def test_a_constant_that_is_not_a_binary_fraction_is_still_constant() -> None:
    assert np.isnan(quadratic_weighted_kappa(sample_of([4.1] * 30, [*range(6)] * 5)).value)


def test_measures_beyond_chance_are_undefined_if_all_give_the_same_score() -> None:
    sample = sample_of([4, 4, 4], [4, 4, 4], [0, 0, 1])
    undefined = [name for name, measure in MEASURES.items() if np.isnan(measure(sample).value)]
    assert undefined == [
        *("quadratic_weighted_kappa", "spearman"),
        *("pairwise_accuracy", "pairwise_ties", "pairwise_reversals"),
    ]


def test_every_measure_says_why_it_is_undefined() -> None:
    samples = sample_of([4], [4]), sample_of([5], [5])
    notes = {estimate(measure(sample)).note for measure in MEASURES.values() for sample in samples}
    assert notes == {"too few to say", "one score throughout", "no prompt's labels differ"}


def test_an_interval_needs_20_prompts() -> None:
    few = sample_of([0, 5] * 19, [0, 4] * 19, sorted([*range(19)] * 2))
    enough = sample_of([0, 5] * 20, [0, 4] * 20, sorted([*range(20)] * 2))
    assert estimate(exact_match(few)).note == "too few to say"
    assert estimate(exact_match(few)).low is None
    assert estimate(exact_match(enough)).note == ""


def test_a_measure_that_depends_on_one_prompt_has_no_interval() -> None:
    # One response in 25 differs from the constant score; without it there is no correlation.
    sample = sample_of([3] * 24 + [5], [*range(5)] * 5)
    assert spearman(sample).value != 0
    assert estimate(spearman(sample)).note == "too few to say"


def test_responses_to_one_prompt_are_not_independent() -> None:
    # 100 prompts with four equal responses each tell no more than 100 responses: 0.5 ± 1.96 *
    # sqrt(0.25 / 100)
    sample = sample_of([3] * 400, [3] * 200 + [4] * 200, sorted([*range(100)] * 4))
    figure = estimate(exact_match(sample))
    assert (figure.low, figure.high) == pytest.approx((0.402, 0.598), abs=0.012)
