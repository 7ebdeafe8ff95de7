from random import Random

from judge.evaluation.distributions import error_quantile
from tests.tables import each


def test_range_is_the_conformal_quantile() -> None:
    # ceil(0.9 * (19 + 1)) = 18: the 18th smallest of 19 errors.
    assert error_quantile({(0, 1): 10, (1, 1): 7, (2, 1): 1, (3, 1): 1}) == 2


def test_range_needs_9_labels() -> None:
    assert error_quantile({(1, 1): 9}) == 1
    assert error_quantile({(1, 1): 8}) is None
    assert error_quantile({}) is None


def test_error_is_weighted_by_the_inverse_of_its_probability() -> None:
    # Five large errors have weight 4 if they were drawn a quarter as often as the 60 small ones.
    assert error_quantile({(0, 1): 60, (3, 1): 5}) == 0
    assert error_quantile({(0, 1): 60, (3, 0.25): 5}) == 3


@each("n", [9, 50])
def test_range_holds_90_percent_of_new_labels(n: int) -> None:
    random = Random(7)
    hits = 0
    tries = 2000
    for _ in range(tries):
        *seen, new = (abs(random.gauss(0, 1)) for _ in range(n + 1))
        within = error_quantile({(miss, 1): 1 for miss in seen})
        assert within is not None
        hits += new <= within
    assert 0.89 <= hits / tries <= 0.9 + 1 / (n + 1) + 0.01
