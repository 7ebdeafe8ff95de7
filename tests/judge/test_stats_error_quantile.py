from judge.evaluation.distributions import error_quantile


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
