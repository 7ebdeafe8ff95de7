"""Who has changed: sums by hand."""

from math import sqrt

import pytest

from judge.evaluation.blame import find_blame
from judge.evaluation.stats import Interval
from judge.scoring.rubric import Scale
from tests.tables import each

SCALE = Scale(0, 5)


def step(mean: float, half: float = 0.1) -> Interval:
    return Interval(mean, mean - half, mean + half)


def test_amounts_are_means_of_the_differences_with_two_standard_errors() -> None:
    # 60 replies, half of them one point lower: J = -0.5, squares 60 * 0.25 = 15, and 0.01 * 25 for
    # what is not seen.
    found = find_blame([(4, 4), (4, 3)] * 30, step(-2), SCALE)
    error = sqrt(15 + 0.25) / 60
    assert found.judge == pytest.approx((-0.5, -0.5 - 2 * error, -0.5 + 2 * error))
    assert (found.who, found.n, found.judge.is_clear) == ("both", 60, True)


@each(
    ("judge", "total", "half", "who"),
    [
        # The judge gives 60 replies the same: its part is at most 2 * sqrt(0.25) / 60, which is
        # 0.017. The step's range of two errors on each side is widened to three and a half.
        (0, -1, 0.5, "assistant"),  # at least 0.125, half of which is 0.0625
        (0, -1, 0.56, "unclear"),  # at least 0.02, half of which is 0.01
        (0, 1, 0.5, "assistant"),
        (1, -1, 0.3, "assistant"),  # the judge has become kinder, which is no part of a drop
        (-1, -1.2, 0.1, "judge"),
        (-1, -2, 0.1, "both"),
        (-1, -2, 0.8, "judge or both"),  # the rest of 1 may be -0.4
        (-1, -1.2, 1.2, "judge or both"),  # it may be 0.8, which is more than half
        (-4, -5, 0.1, "judge"),  # the rest is clear, and less than a quarter
        (1, 2, 0.1, "both"),
    ],
)
def test_who_is_named(judge: int, total: float, half: float, who: str) -> None:
    stored = 1 if judge > 0 else 4
    asked = [(stored, stored + judge)] * 60
    assert find_blame(asked, step(total, half), SCALE).who == who


def test_replies_that_differ_much_leave_it_open() -> None:
    # 40 replies, half a point higher, half a point lower: the error is 0.5 / sqrt(40), so the
    # judge's part may be 0.16, and half of the step is at least 0.125.
    asked = [(4, 3), (3, 4)] * 20
    assert find_blame(asked, step(-0.6, 0.2), SCALE).who == "unclear"
    assert find_blame(asked * 4, step(-0.6, 0.1), SCALE).who == "assistant"
