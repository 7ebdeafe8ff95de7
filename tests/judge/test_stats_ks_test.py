from collections import Counter
from random import Random

import pytest

from judge.evaluation.distributions import kolmogorov_smirnov
from tests.tables import each


@each("shift", [0, 0.1, 0.3, 0.6])
@each(("n", "m"), [(30, 200), (100, 1000), (400, 400)])
def test_p_value_is_close_to_scipys(n: int, m: int, shift: float) -> None:
    from scipy.stats import ks_2samp  # which takes a second of each process that collects the tests

    random = Random(5)
    one = [random.gauss(0, 1) for _ in range(n)]
    other = [random.gauss(shift, 1) for _ in range(m)]
    expected = float(ks_2samp(one, other, method="exact" if n * m < 10_000 else "asymp").pvalue)
    assert kolmogorov_smirnov(Counter(one), Counter(other)) == pytest.approx(
        expected, rel=0.15, abs=0.002
    )


def test_samples_of_one_distribution_are_rarely_called_different() -> None:
    random = Random(1)
    warned = 0
    for _ in range(1000):
        one, other = (Counter(random.choices(range(6), k=k)) for k in (40, 300))
        warned += kolmogorov_smirnov(one, other) < 0.01
    assert warned <= 15


def test_equal_samples_have_p_1_and_disjoint_ones_a_tiny_p() -> None:
    assert kolmogorov_smirnov({1: 5, 2: 5}, {1: 50, 2: 50}) == 1
    assert kolmogorov_smirnov({1: 20}, {2: 20}) < 1e-6


def test_empty_sample_differs_from_none() -> None:
    assert kolmogorov_smirnov({}, {1: 3}) == 1
    assert kolmogorov_smirnov({1: 3}, {}) == 1
