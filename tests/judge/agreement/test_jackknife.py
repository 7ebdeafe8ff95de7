import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judge.evaluation.agreement.measures import (
    MEASURES,
    Statistic,
    estimate,
    exact_match,
    interval,
    mean_error,
    quadratic_weighted_kappa,
)
from judge.evaluation.agreement.sample import Sample
from judge.scoring.rubric import Scale
from tests.tables import each

SCALE = Scale(0, 5)


def part_of(sample: Sample, kept: np.ndarray) -> Sample:
    """The responses in the mask `kept`, shape (n,), with their prompts renumbered."""
    numbers = np.unique(sample.prompts[kept], return_inverse=True)[1]
    return Sample(numbers, sample.scores[kept], sample.label[kept], sample.scale)


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    n = draw(st.integers(1, 30))
    prompts = np.unique(draw(arrays(int, n, elements=st.integers(0, 9))), return_inverse=True)[1]
    scores = draw(arrays(float, n, elements=st.sampled_from([0, 1, 2, 2.5, 3, 4, 14 / 3, 5])))
    labels = draw(arrays(float, n, elements=st.sampled_from([0, 0.5, 1, 2, 3, 4, 5])))
    return Sample(prompts, scores, labels, SCALE)


@given(samples())
@settings(max_examples=20)
def test_leaving_a_prompt_out_gives_the_measure_of_the_other_responses(sample: Sample) -> None:
    for measure in MEASURES.values():
        figure = measure(sample)
        if np.isnan(figure.value) or sample.n_prompts == 1:
            continue
        others = [
            measure(part_of(sample, sample.prompts != each)).value
            for each in range(sample.n_prompts)
        ]
        assert figure.without == pytest.approx(others, abs=1e-12, nan_ok=True), measure


def test_the_interval_of_a_mean_uses_students_t() -> None:
    # The errors are 1, 2, ..., 20, one for each prompt. Their mean is 10.5 and their variance 35,
    # so the standard error is sqrt(35 / 20) = 1.3229; t with 19 degrees of freedom is 2.0930, and
    # the product 2.7688.
    sample = Sample(np.arange(20), np.arange(1.0, 21), np.zeros(20), Scale(0, 20))
    assert interval(mean_error(sample)) == pytest.approx((10.5 - 2.7688, 10.5 + 2.7688), abs=1e-4)


def test_the_interval_of_a_correlation_is_computed_on_the_atanh_scale() -> None:
    figure = Statistic(0.5, np.array([0.4, 0.5, 0.55, 0.6]), 4, 4)
    # atanh: .549306; .423649 .549306 .618381 .693147. Squared deviations: .015790 + 0 + .004771 +
    # .020690 = .041251; times 3/4: .030938, root .175893; t with 3 degrees 3.182446, so .549306 -+
    # .559770. tanh(-.010464) = -.010464, tanh(1.109076) = .803750
    assert interval(figure) == pytest.approx((-0.010464, 0.803750), abs=2e-5)


@each(
    ("fives", "apart", "ends"),
    # Kappa is -1/19 in both cases, atanh -.052680: labels and scores have mean 4.75, variance
    # 1.1875, covariance -.0625
    [
        # 36 of 40 responses have 5 as score and label. One more response, half 0 and half 5 in
        # both, makes the sums
        # 192.5, of squares 962.5 and of products 912.5. The variance is then 1.431440, the
        # covariance .211927, kappa .148052 and its atanh .149148, which is .201828 more. The
        # interval is -.052680 -+ 2.022691 * .201828.
        (36, 2, (-0.430831, 0.341294)),
        # 90 of 100: one more response makes .038553 + .052680 = .091233. The error of kappa by
        # chance, 1 / sqrt(100) times 1 - 1/361, is larger: .099723. The interval is -.052680 -+
        # 1.984217 * .099723.
        (90, 5, (-0.245438, 0.144180)),
    ],
)
def test_kappa_has_a_minimum_error_when_rare_scores_may_be_missing(
    fives: int, apart: int, ends: tuple[float, float]
) -> None:
    scores, labels = np.full((2, fives + 2 * apart), 5.0)
    scores[:apart] = labels[-apart:] = 0
    sample = Sample(np.arange(len(scores)), scores, labels, SCALE)
    assert interval(quadratic_weighted_kappa(sample)) == pytest.approx(ends, abs=1e-5)


def test_the_interval_of_a_share_is_wilsons_at_the_effective_sample_size() -> None:
    # 25 independent responses, 5 of them matched. With one left out: 5/24 (20 times), 4/24 (5
    # times), which deviate by 1/120 and -1/30: 20/14400 + 5/900 = .0069444; times 24/25: .0066667.
    # So 0.2 * 0.8 / .0066667 = 24 responses. t with 24 degrees: 2.063899, squared 4.259678, over 24
    # = .177487 = d. Middle: (.2 + .088743) / 1.177487 = .245220. Half width: sqrt(.177487 * .16 +
    # .007875) / 1.177487 = .161752.
    sample = Sample(np.arange(25), np.full(25, 3.0), np.array([3.0] * 5 + [4.0] * 20), SCALE)
    assert interval(exact_match(sample)) == pytest.approx((0.083468, 0.406972), abs=2e-4)


def test_a_share_of_0_or_1_has_an_interval() -> None:
    # 20 prompts, t with 19 degrees squared 4.380689, over 20 = .219034: Wilson's other end is d /
    # (1 + d) = .179679.
    alike = Sample(np.repeat(np.arange(20), 3), np.full(60, 3.0), np.full(60, 3.0), SCALE)
    apart = Sample(alike.prompts, alike.scores, alike.label + 1, SCALE)
    assert interval(exact_match(alike)) == pytest.approx((1 - 0.179679, 1), abs=1e-5)
    assert interval(exact_match(apart)) == pytest.approx((0, 0.179679), abs=1e-5)


def test_perfect_agreement_has_no_interval_and_says_why() -> None:
    values = np.tile([1.0, 4], 20)
    figure = estimate(quadratic_weighted_kappa(Sample(np.arange(40), values, values, SCALE)))
    assert (figure.value, figure.note) == (1, "no spread")
    assert figure.low is None


def drawn(rng: np.random.Generator, prompts: int) -> Sample:
    """One to five responses to each prompt; their quality and the judge's error partly depend on
    the prompt.
    """
    numbers = np.repeat(np.arange(prompts), rng.integers(1, 6, prompts))
    quality = rng.normal(3, 1, prompts)[numbers] + rng.normal(0, 1, len(numbers))
    judged = quality + 0.3 + rng.normal(0, 0.5, prompts)[numbers] + rng.normal(0, 0.9, len(numbers))
    return Sample(numbers, np.clip(judged.round(), 0, 5), np.clip(quality.round(), 0, 5), SCALE)


def test_groups_are_random_even_if_ids_follow_the_scores() -> None:
    # The errors rise from 0 to 20 in the order of the prompts. Groups of every 200th prompt would
    # have equal means, and so no error. The standard deviation of 4,000 evenly spread numbers is 20
    # / sqrt(12); divided by sqrt(4000) it is the standard error.
    sample = Sample(np.arange(4000), np.linspace(0, 20, 4000), np.zeros(4000), Scale(0, 20))
    low, high = interval(mean_error(sample))
    assert high - low == pytest.approx(2 * 1.972 * 20 / 12**0.5 / 4000**0.5, rel=0.12)
