"""The test for a drop: sums by hand, bad input, and small simulations of what docs/measurements.md promises."""

from collections.abc import Sequence
from itertools import accumulate
from random import Random

import pytest

from judge.drift import MIN_REFERENCE, Drop, Level, NotEnough, find_below, find_drop
from judge.rubric import Scale
from tests.tables import each

SCALE = Scale(0, 5)
PILED = (0.01, 0.01, 0.03, 0.10, 0.45, 0.40)
PILED_LESS_A_POINT = (0.117, 0.061, 0.096, 0.165, 0.384, 0.177)  # mean 3.17 after 4.17
SPREAD = (0.08, 0.12, 0.20, 0.25, 0.20, 0.15)
TWO_PEAKS = (0.30, 0.05, 0.05, 0.05, 0.10, 0.45)
SELDOM = (0.05, 0, 0, 0, 0, 0.95)


def draw(shares: Sequence[float], n: int, seed: int) -> list[int]:
    return Random(seed).choices(range(6), cum_weights=list(accumulate(shares)), k=n)


def count_alarms(shares: Sequence[float], a_day: int, quarters: int, first_day: int) -> int:
    """How often somebody is alarmed in 90 days each, asked after each reply, though nothing changes."""
    alarms = 0
    for seed in range(quarters):
        scores = draw(shares, (first_day + 90) * a_day, seed)
        last = 0
        for now in range(first_day * a_day, len(scores)):
            week = max((now // a_day - 6) * a_day, 0)
            if isinstance(
                find_drop(scores[max(week - 28 * a_day, 0) : week], scores[max(week, last) : now + 1], SCALE), Drop
            ):
                alarms, last = alarms + 1, now + 1
    return alarms


def is_heard_within(replies: int, shares: Sequence[float], reference: Sequence[int], seed: int) -> bool:
    week, lower = draw(PILED, 240, seed + 1), draw(shares, replies, seed + 2)
    return any(isinstance(find_drop(reference, week[n:] + lower[:n], SCALE), Drop) for n in range(1, replies + 1))


def drop(reference: Sequence[int], recent: Sequence[int]) -> Drop:
    found = find_drop(reference, recent, SCALE)
    assert isinstance(found, Drop)
    return found


def test_evidence_is_that_of_shiryaev_and_roberts() -> None:
    # A floor of 2.5 is 0.5 of the scale. Reference 20 fives and 20 zeros, and one value of 0: mean 20/41, variance
    # 20/41 - (20/41)^2 = 420/1681. Bet 0.12 / (420/1681 + 0.0144) = 0.454113, below 0.5 / 0.5. A zero multiplies by
    # 1 + 0.454113 / 2 = 1.227057 = a. After 20 zeros a + a^2 + ... + a^20 = a (a^20 - 1) / (a - 1) = 318.206.
    # The threshold is 2 * 90 / 28 * 40 = 257.14; after 19 zeros there are 318.206 / a - 1 = 258.32, after 18 209.5.
    reference = [5, 0] * 20
    found = find_below(2.5, reference, [0] * 20, SCALE)
    assert isinstance(found, Drop)
    assert (found.kind, found.since, found.before, found.after) == ("floor", 0, Level(2.5, 0.5), Level(0, 1))
    assert found.evidence == pytest.approx(318.206, abs=0.001)
    assert found.threshold == pytest.approx(257.14, abs=0.01)
    assert isinstance(find_below(2.5, reference, [0] * 19, SCALE), Drop)
    assert find_below(2.5, reference, [0] * 18, SCALE) is None


@each("shares", [PILED, SPREAD, TWO_PEAKS, SELDOM])
def test_seldom_alarms_where_nothing_has_changed(shares: Sequence[float]) -> None:
    assert count_alarms(shares, a_day=5, quarters=8, first_day=34) <= 1


@each("shares", [PILED, SPREAD, TWO_PEAKS, SELDOM])
def test_new_watch_seldom_alarms_where_nothing_has_changed(shares: Sequence[float]) -> None:
    assert count_alarms(shares, a_day=5, quarters=8, first_day=7) <= 1


def test_drop_of_one_point_is_heard_within_two_days_at_40_a_day() -> None:
    heard = [is_heard_within(80, PILED_LESS_A_POINT, draw(PILED, 1120, seed), seed) for seed in range(0, 120, 3)]
    assert sum(heard) >= 38


def test_reference_that_is_too_small_is_a_value() -> None:
    assert find_drop([], [5], SCALE) == NotEnough(0, MIN_REFERENCE)
    assert find_drop([5] * (MIN_REFERENCE - 1), [0] * 50, SCALE) == NotEnough(MIN_REFERENCE - 1, MIN_REFERENCE)
    assert find_below(3.5, [5] * (MIN_REFERENCE - 1), [0] * 50, SCALE) == NotEnough(MIN_REFERENCE - 1, MIN_REFERENCE)
    assert isinstance(find_drop([5] * MIN_REFERENCE, [0] * 50, SCALE), Drop)


def test_what_a_small_reference_leaves_open_is_no_drop() -> None:
    few, many, recent = [5, 5, 5, 5, 3] * 6, [5, 5, 5, 5, 3] * 12, [4, 4, 4, 5] * 75
    assert find_drop(few, recent, SCALE) is None
    assert isinstance(find_drop(many, recent, SCALE), Drop)


def test_a_few_equal_scores_prove_no_spread_of_nothing() -> None:
    reference = [5] * 40
    assert find_drop(reference, [5] * 200, SCALE) is None
    assert find_drop(reference, [5] * 20 + [4], SCALE) is None
    assert find_drop(reference, [5] * 20 + [0], SCALE) is None
    assert find_drop(reference, ([5] * 19 + [0]) * 5, SCALE) is None
    assert isinstance(find_drop(reference, [3] * 12, SCALE), Drop)


def test_worst_reference_cannot_get_worse() -> None:
    assert find_drop([0] * 40, [0] * 100_000, SCALE) is None


def test_difference_within_the_margin_is_no_drop() -> None:
    reference = [5, 4] * 5_000
    assert find_drop(reference, ([5, 4] * 9 + [4, 3]) * 1_000, SCALE) is None  # 0.1 lower
    assert isinstance(find_drop(reference, [5, 4, 4, 3] * 1_000, SCALE), Drop)  # 0.5 lower


def test_better_scores_are_no_drop() -> None:
    assert find_drop([3, 2, 4] * 100, [5] * 500, SCALE) is None


def test_drop_that_is_over_is_not_told() -> None:
    reference, bad = [5, 4] * 100, [2] * 30
    assert isinstance(find_drop(reference, bad, SCALE), Drop)
    assert find_drop(reference, bad + [5, 4] * 200, SCALE) is None


def test_drop_says_when_it_began_and_what_was_before_and_after() -> None:
    found = drop([5, 4] * 100, [4, 5] * 20 + [3, 2, 4] * 15)
    assert (found.since, found.before) == (40, Level(4.5, 0.0))
    assert found.after == pytest.approx((3.0, 1 / 3))
    assert found.evidence > found.threshold


def test_more_low_scores_are_heard_of_before_the_mean_says_much() -> None:
    found = drop(([4] * 19 + [2]) * 50, [4, 4, 4, 4, 2] * 30)
    assert found.kind == "low share"
    assert (found.before.low_share, found.after.low_share) == pytest.approx((0.05, 0.2), abs=0.01)


def test_fall_above_the_middle_is_one_of_the_mean() -> None:
    assert drop([5] * 100, [3] * 40).kind == "mean"


def test_low_is_what_is_below_the_middle_of_the_scale() -> None:
    found = find_drop([10, 8] * 50, [6, 5] * 20, Scale(1, 10))
    assert isinstance(found, Drop)
    assert (found.before.low_share, found.after.low_share) == (0, pytest.approx(0.5, abs=0.02))


def test_scale_with_another_beginning_gives_the_same_answer() -> None:
    reference, recent = draw(PILED, 300, 1), draw(PILED_LESS_A_POINT, 80, 1)
    found = find_drop([score + 1 for score in reference], [score + 1 for score in recent], Scale(1, 6))
    assert isinstance(found, Drop)
    assert found.evidence == pytest.approx(drop(reference, recent).evidence)


def test_floor_is_told_whatever_was_before() -> None:
    reference = [2, 3] * 50
    found = find_below(3.5, reference, [2, 3] * 50, SCALE)
    assert isinstance(found, Drop)
    assert found.kind == "floor"
    assert find_drop(reference, [2, 3] * 50, SCALE) is None
    assert find_below(2.5, reference, [2, 3] * 500, SCALE) is None


@each("floor", [0, 5, -1, 7.5])
def test_floor_beyond_the_scale_is_an_error(floor: float) -> None:
    with pytest.raises(ValueError, match=f"floor {floor:g} is not between the ends of the scale, 0 and 5"):
        find_below(floor, [4] * 40, [4], SCALE)


@each(("stray", "words"), [(6, "6"), (-1, "-1"), (2.5, "2.5"), (float("nan"), "nan")])
def test_score_off_the_scale_is_an_error(stray: int, words: str) -> None:
    with pytest.raises(ValueError, match=f"score {words} is no whole number from 0 to 5"):
        find_drop([4] * 40, [4, stray], SCALE)
    with pytest.raises(ValueError, match=f"score {words} is no whole number from 0 to 5"):
        find_below(3, [stray], [], SCALE)


def test_no_recent_score_and_one_are_no_drop() -> None:
    assert find_drop([5, 4] * 50, [], SCALE) is None
    assert find_drop([5, 4] * 50, [0], SCALE) is None


def test_evidence_of_a_hundred_thousand_scores_is_a_finite_number() -> None:
    found = drop([5] * 30, [0] * 100_000)
    assert 1e300 < found.evidence < float("inf")
