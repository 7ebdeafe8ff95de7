import json
from math import isnan

import pytest

from judge.evaluation.agreement.measures import estimate, quadratic_weighted_kappa
from judge.evaluation.agreement.report import make_report
from judge.evaluation.agreement.sample import to_sample
from judge.evaluation.agreement.scores import Scores
from judge.evaluation.estimate import Response
from judge.scoring.rubric import Scale


def scores_of(*rows: tuple[float | None, float | None, tuple[float, ...]]) -> Scores:
    """Responses to different prompts, each row with the scores of judges a and b and the labels."""
    responses = tuple(
        Response(str(n), {"a": a, "b": b}, labels) for n, (a, b, labels) in enumerate(rows)
    )
    return Scores(responses, ("a", "b"), Scale(0, 5), (), 0)


def test_a_difference_covers_the_responses_that_both_judges_scored() -> None:
    # Both judges scored the first three: a matches 2 of 3, b 1 of 3. On the third, a is off by 1
    # and b by 2.
    rows = ((3, 3, (3,)), (4, 5, (4,)), (1, 0, (2,)), (5, None, (1,)), (None, 2, (2,)), (3, 4, ()))
    (difference,) = make_report(scores_of(*rows)).differences
    assert (difference.judge, difference.other, difference.responses, difference.prompts) == (
        *("a", "b", 3, 3),
    )
    assert difference.values["exact_match"] == pytest.approx((2 / 3, 1 / 3))
    assert difference.estimates["exact_match"].value == pytest.approx(1 / 3)
    assert difference.estimates["mean_error"].value == pytest.approx(-1 / 3 - -1 / 3)
    assert difference.estimates["within_one"].value == pytest.approx(1 / 3)
    assert difference.estimates["exact_match"].note == "too few to say"


def test_judges_with_no_labelled_response_in_common_are_not_compared() -> None:
    assert not make_report(scores_of((3, None, (3,)), (None, 4, (4,)), (2, 2, ()))).differences


def test_a_difference_can_be_clear_although_the_judges_intervals_overlap() -> None:
    # Both judges are off by two on every third response. On the others a is right, and b is one
    # point too high.
    rows = [
        ((label + 2) % 6, (label + 2) % 6, (label,)) if n % 3 == 0 else (label, label + 1, (label,))
        for n, label in enumerate([0, 1, 2, 3, 4] * 12)
    ]
    scores = scores_of(*rows)
    one, two = (
        estimate(quadratic_weighted_kappa(sample))
        for name in "ab"
        if (sample := to_sample(scores, name))
    )
    figure = make_report(scores).differences[0].estimates["quadratic_weighted_kappa"]
    assert one.low < two.high
    assert 0 < figure.low < figure.high
    assert figure.value == pytest.approx(one.value - two.value)


def test_the_kappa_difference_to_a_constant_judge_is_undefined() -> None:
    (difference,) = make_report(scores_of(*((n % 5, 4, (n % 4,)) for n in range(30)))).differences
    told = difference.to_dict()["measures"]["quadratic_weighted_kappa"]
    assert not isnan(difference.values["quadratic_weighted_kappa"][0])
    assert (told["other"], told["value"], told["low"], told["note"]) == (
        *(None, None, None, "one score throughout"),
    )
    assert "NaN" not in json.dumps(difference.to_dict())


def test_identical_judges_differ_by_0() -> None:
    (difference,) = make_report(
        scores_of(*((n % 5, n % 5, (n % 4,)) for n in range(30)))
    ).differences
    figure = difference.estimates["spearman"]
    assert (figure.value, figure.low, figure.high) == (0, 0, 0)
