"""Who has changed: worlds that are planted, and sums by hand."""

from itertools import accumulate
from math import sqrt
from random import Random

import pytest

from judge.evaluation.blame import STEPS, find_blame
from judge.scoring.rubric import Scale
from tests.tables import each

SCALE = Scale(0, 5)
GOOD = (1, 2, 8, 30, 39, 20)


def test_amounts_are_means_of_the_differences_with_two_standard_errors() -> None:
    # 60 replies, half of them one point lower: J = -0.5, squares 60 * 0.25 = 15, and 0.01 * 25 for
    # what is not seen.
    found = find_blame([(4, 4), (4, 3)] * 30, [4] * 100, [2] * 100, "mean", SCALE)
    error = sqrt(15 + 0.25) / 60
    assert found.judge == pytest.approx((-0.5, -0.5 - 2 * error, -0.5 + 2 * error))
    assert (found.who, found.n, found.judge.is_clear) == ("both", 60, True)


@each(
    ("judge", "assistant", "who"),
    [(0, 1, {"assistant"}), (1, 0, {"judge"}), (1, 1, {"both"}), (-1, 2, {"assistant"})],
)
def test_planted_changes_are_found(judge: int, assistant: int, who: set[str]) -> None:
    random, named = Random(7), []
    for _ in range(40):
        worth = random.choices(range(6), cum_weights=list(accumulate(GOOD)), k=600)
        before, again, recent = (
            [min(max(each - less + random.choice((-1, 0, 0, 1)), 0), 5) for each in worth]
            for less in (0, judge, judge + assistant)
        )
        found = find_blame(
            list(zip(before, again, strict=True))[: STEPS[1]], before, recent[:120], "mean", SCALE
        )
        named.append(found.who in who)
    assert sum(named) >= 38


@each(("kind", "sign"), [("rise", 1), ("mean", -1), ("floor", -1)])
def test_a_rise_is_a_drop_turned_round(kind: str, sign: int) -> None:
    found = find_blame([(2, 2 + sign)] * 60, [2] * 100, [2 + sign] * 100, kind, SCALE)  # type: ignore[arg-type]
    assert (found.who, found.judge.mean) == ("judge", sign)


def test_an_assistant_with_less_than_a_quarter_of_a_change_is_not_named_beside_the_judge() -> None:
    # Of the 5 points of the change 4 are the judge's on each reply, and 1 is clearly left.
    assert find_blame([(5, 1)] * 60, [5] * 100, [0] * 100, "mean", SCALE).who == "judge"


def test_low_share_is_of_scores_below_the_middle() -> None:
    found = find_blame(
        [(3, 2)] * 30 + [(4, 4)] * 30, [4] * 50 + [3] * 50, [4] * 50 + [2] * 50, "low share", SCALE
    )
    assert (found.who, found.judge.mean) == ("judge", 0.5)


def test_a_judge_that_moves_little_beside_an_unclear_drop_is_left_open() -> None:
    found = find_blame(
        [(4, 3)] * 6 + [(4, 5)] * 4 + [(4, 4)] * 50, [4] * 50, [4, 3] * 30, "mean", SCALE
    )
    assert found.who == "assistant"
    assert (
        find_blame([(4, 3), (4, 5)] * 20, [4] * 50, [4] * 9 + [3], "mean", SCALE).who == "unclear"
    )
