"""The test for a drop: sums by hand, bad input, and small simulations of the claims in
docs/measurements.md.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from itertools import accumulate
from math import log
from random import Random
from typing import Any

import pytest

from bench.drift import WARM, World, find_alarms
from judge.evaluation.drift import (
    MIN_REFERENCE,
    DatedScore,
    Drop,
    Level,
    find_below,
    find_drop,
    find_rise,
)
from judge.scoring.rubric import Scale
from tests.tables import each

SCALE = Scale(0, 5)
PILED = (0.01, 0.01, 0.03, 0.10, 0.45, 0.40)
PILED_LESS_A_POINT = (0.117, 0.061, 0.096, 0.165, 0.384, 0.177)  # mean 3.17; that of PILED is 4.17
SPREAD = (0.08, 0.12, 0.20, 0.25, 0.20, 0.15)
TWO_PEAKS = (0.30, 0.05, 0.05, 0.05, 0.10, 0.45)
SELDOM = (0.05, 0, 0, 0, 0, 0.95)
MONDAY = date(2026, 6, 1)
RECENT = 28  # the day after the reference


def draw(shares: Sequence[float], n: int, seed: int) -> list[int]:
    return Random(seed).choices(range(6), cum_weights=list(accumulate(shares)), k=n)


def over(
    scores: Sequence[int], days: int = 28, first: int = 0, thread: int = 1
) -> list[DatedScore]:
    """The scores spread evenly over `days` days; with `thread`, that many in a row share a thread."""
    return [
        DatedScore(
            score,
            MONDAY + timedelta(days=first + i * days // len(scores)),
            i // thread if thread > 1 else None,
        )
        for i, score in enumerate(scores)
    ]


def is_heard_within(
    replies: int, shares: Sequence[float], reference: Sequence[DatedScore], seed: int
) -> bool:
    recent = over(draw(PILED, 200, seed + 1) + draw(shares, replies, seed + 2), 7, RECENT)
    return any(find_drop(reference, recent[: 200 + n], SCALE) for n in range(1, replies + 1))


def drop(reference: Sequence[int], recent: Sequence[int]) -> Drop:
    found = find_drop(over(reference), over(recent, 7, RECENT), SCALE)
    assert found
    return found


def no_drop(reference: Sequence[int], recent: Sequence[int]) -> bool:
    return find_drop(over(reference), over(recent, 7, RECENT), SCALE) is None


def test_evidence_is_a_mean_of_likelihood_ratios() -> None:
    # The reference has one 0 and one 5 on each of 28 days, and one more 0 is added. Threads,
    # weekdays and days do not differ, so V is 1. A floor of 2.5 is half of the scale. The rescaled
    # values are only 0 and 1, so the reference tilted to a mean m has a 0 with probability 1 - m
    # and a 5 with m (the smoothing of the other values, 0.08 of 57, changes the third digit). The
    # bets lower m to 0.46, 0.42 and 0.34: a 0 multiplies by 0.54 / 0.5, 0.58 / 0.5 and
    # 0.66 / 0.5.
    reference = [
        DatedScore(score, MONDAY + timedelta(days=day)) for day in range(28) for score in (5, 0)
    ]
    recent = over([0] * 20, 7, RECENT)
    found = find_below(2.5, reference, recent, SCALE)
    ratios = (1.08, 1.16, 1.32)
    wanted = sum(ratio * (ratio**20 - 1) / (ratio - 1) for ratio in ratios) / 3
    assert found
    assert log(found.evidence) == pytest.approx(log(wanted), abs=0.02)
    assert (found.kind, found.since, found.before, found.after) == (
        "floor",
        0,
        Level(2.5, 0.5),
        Level(0, 1),
    )
    assert found.threshold == pytest.approx(1.5 * 90 * 2)


def test_scores_that_share_a_thread_are_weaker_evidence() -> None:
    # Each thread repeats one score on five days: its sum varies five times as much, and the days do
    # not.
    own = draw(TWO_PEAKS, 224, 1)
    alone = over(own * 5)
    recent = over([0] * 30, 7, RECENT)
    assert find_drop(alone, recent, SCALE)
    assert (
        find_drop([each._replace(thread=i % 224) for i, each in enumerate(alone)], recent, SCALE)
        is None
    )


def test_order_of_the_scores_within_a_day_does_not_matter() -> None:
    # Each day has the same scores, so days differ by the rounding errors of their sums alone.
    def shuffled(seed: int) -> list[DatedScore]:
        random = Random(seed)
        days = [random.sample([5, 4, 4, 4, 3] * 7, 35) for _ in range(28)]
        return over([score for day in days for score in day])

    recent = over([4, 4, 4, 3] * 100, 7, RECENT)
    drops = [find_below(3.9, shuffled(seed), recent, SCALE) for seed in range(5)]
    evidence = [drop.evidence for drop in drops if drop]
    assert evidence == pytest.approx([max(evidence)] * len(drops))


def test_days_of_equal_scores_are_alike_however_many_there_are_on_a_day() -> None:
    # The mean of 1336 times 0.8 is not exactly 0.8, so each score deviates by that rounding error.
    days = [day for day in range(8) for _ in range(333 if day % 2 else 1)]
    uneven = [DatedScore(4, MONDAY + timedelta(days=day)) for day in days]
    recent = over([2] * 400, 7, RECENT)
    found = find_below(3, uneven, recent, SCALE)
    even = find_below(3, over([4] * len(days), 8), recent, SCALE)
    assert found
    assert even
    assert found.evidence == pytest.approx(even.evidence)


def test_lower_weekends_are_not_a_drop() -> None:
    def level(day: int) -> list[int]:
        return [4, 4, 3, 3, 3, 3, 3, 3] if day % 7 > 4 else [5, 4, 4, 4, 4, 4, 4, 3]

    days = [
        DatedScore(score, MONDAY + timedelta(days=day)) for day in range(35) for score in level(day)
    ]
    assert find_drop(days[: 28 * 8], days[28 * 8 :], SCALE) is None
    weekends = [DatedScore(each.score, each.day - timedelta(days=5)) for each in days[33 * 8 :]]
    assert find_drop(days[: 28 * 8], days[28 * 8 :][: 5 * 8] + weekends * 2, SCALE)


def test_scores_that_vary_by_day_are_not_a_drop() -> None:
    random = Random(3)
    levels = [random.choice((PILED, PILED_LESS_A_POINT)) for _ in range(28)]
    varying = [
        DatedScore(score, MONDAY + timedelta(days=day))
        for day, shares in enumerate(levels)
        for score in draw(shares, 40, day)
    ]
    mixed = over([each.score for each in sorted(varying, key=lambda each: random.random())])
    recent = over(draw(SPREAD, 80, 99), 2, RECENT)
    assert find_drop(mixed, recent, SCALE)
    assert find_drop(varying, recent, SCALE) is None


def test_change_within_the_reference_does_not_hide_a_drop() -> None:
    # Half of the reference is a point lower. Days differ, but only once from one day to the next.
    reference = over(draw(PILED_LESS_A_POINT, 560, 1) + draw(PILED, 560, 2))
    assert find_drop(reference, over(draw(SPREAD, 160, 3), 4, RECENT), SCALE)


@pytest.mark.slow
@each(
    ("shape", "habits"),
    [
        (SELDOM, {}),
        (PILED, {"thread": 5, "alike": 0.7}),
        (SPREAD, {"weekend": 0.5}),
        (TWO_PEAKS, {"days_vary": 0.15}),
    ],
)
def test_false_alarms_are_at_most_one_in_90_days(
    shape: tuple[float, ...], habits: dict[str, Any]
) -> None:
    world = World(shape, **habits)
    runs = [world.draw(10, [0.0] * (WARM + 90), Random(seed)) for seed in range(4)]
    assert sum(len(list(find_alarms(run, 10, WARM))) for run in runs) <= 4


@pytest.mark.slow
def test_days_that_resemble_the_day_before_give_about_one_false_alarm_in_90_days() -> None:
    world = World(SPREAD, days_vary=0.15, resembles=0.7)
    runs = [world.draw(40, [0.0] * (WARM + 90), Random(f"40 {seed}")) for seed in range(6)]
    assert sum(len(list(find_alarms(run, 40, WARM))) for run in runs) <= 6


@pytest.mark.slow
@each("shape", [SPREAD, TWO_PEAKS])
def test_new_watch_has_at_most_one_false_alarm_in_90_days(shape: tuple[float, ...]) -> None:
    runs = [World(shape).draw(10, [0.0] * 97, Random(seed)) for seed in range(4)]
    assert sum(len(list(find_alarms(run, 10, 7))) for run in runs) <= 4


@pytest.mark.slow
def test_drop_of_one_point_is_found_within_two_days_at_40_scores_a_day() -> None:
    heard = [
        is_heard_within(80, PILED_LESS_A_POINT, over(draw(PILED, 1120, seed)), seed)
        for seed in range(0, 90, 3)
    ]
    assert sum(heard) >= 29


def test_reference_that_is_too_small_shows_no_drop() -> None:
    few = over([5] * (MIN_REFERENCE - 1))
    many = over([5] * MIN_REFERENCE)
    recent = over([0] * 50, 7, RECENT)
    assert [find_drop(each, recent, SCALE) for each in ([], few)] == [None, None]
    assert find_below(3.5, few, recent, SCALE) is None
    assert find_drop(many, recent, SCALE)


def test_small_reference_needs_a_clearer_drop_than_a_large_one() -> None:
    few = [5, 4, 4, 4, 3] * 6
    many = [5, 4, 4, 4, 3] * 200
    recent = [4, 4, 4, 3] * 100
    assert no_drop(few, recent)
    assert drop(many, recent)


def test_equal_reference_scores_do_not_make_every_lower_score_a_drop() -> None:
    reference = [5] * 40
    assert no_drop(reference, [5] * 200)
    assert no_drop(reference, [5] * 20 + [4])
    assert no_drop(reference, [5] * 20 + [0])
    assert no_drop(reference, ([5] * 19 + [0]) * 5)
    assert drop(reference, [3] * 12)


def test_worst_reference_cannot_get_worse() -> None:
    assert no_drop([0] * 40, [0] * 100_000)


def test_difference_within_the_margin_is_not_a_drop() -> None:
    reference = [5, 4] * 5_000
    assert no_drop(reference, ([5, 4] * 9 + [4, 3]) * 1_000)  # the mean is 0.1 lower
    assert drop(reference, [5, 4, 4, 3] * 1_000)  # the mean is 0.5 lower


def test_drop_that_is_over_is_not_reported() -> None:
    reference = [5, 4] * 100
    bad = [3] * 12
    assert drop(reference, bad)
    assert no_drop(reference, bad + [5, 4] * 200)


def test_drop_says_when_it_began_and_gives_the_levels_before_and_after() -> None:
    found = drop([5, 4] * 100, [4, 5] * 20 + [3, 2, 4] * 15)
    assert (found.since, found.before) == (40, Level(4.5, 0.0))
    assert found.after == pytest.approx((3.0, 1 / 3))
    assert found.evidence > found.threshold


def test_rise_is_the_drop_of_the_scale_turned_round() -> None:
    worse = over(draw(PILED_LESS_A_POINT, 200, 1))
    better = over(draw(PILED, 60, 2), 7, RECENT)
    found = find_rise(worse, better, SCALE)
    assert found
    assert (found.kind, found.before.mean < 3.3, found.after.mean > 4) == ("rise", True, True)
    assert find_rise(better, worse, SCALE) is None


def test_rise_of_the_low_share_is_reported_as_its_own_kind() -> None:
    found = drop(([4] * 19 + [2]) * 50, [4, 4, 4, 4, 2] * 30)
    assert found.kind == "low share"
    assert (found.before.low_share, found.after.low_share) == pytest.approx((0.05, 0.2), abs=0.01)


def test_drop_above_the_middle_of_the_scale_is_a_drop_of_the_mean() -> None:
    assert drop([5] * 100, [3] * 40).kind == "mean"


def test_low_share_counts_scores_below_the_middle_of_the_scale() -> None:
    found = find_drop(over([10, 8] * 50), over([6, 5] * 20, 7, RECENT), Scale(1, 10))
    assert found
    assert (found.before.low_share, found.after.low_share) == (0, pytest.approx(0.5, abs=0.02))


def test_scale_that_starts_at_1_gives_the_same_evidence() -> None:
    reference = draw(PILED, 300, 1)
    recent = draw(PILED_LESS_A_POINT, 80, 1)
    up = over([score + 1 for score in reference])
    later = over([score + 1 for score in recent], 7, RECENT)
    found = find_drop(up, later, Scale(1, 6))
    assert found
    assert found.evidence == pytest.approx(drop(reference, recent).evidence)


def test_mean_below_the_floor_is_reported_whatever_the_reference() -> None:
    reference = over([2, 3] * 50)
    recent = over([2, 3] * 50, 7, RECENT)
    found = find_below(3.5, reference, recent, SCALE)
    assert found
    assert found.kind == "floor"
    assert find_drop(reference, recent, SCALE) is None
    assert find_below(2.5, reference, recent * 10, SCALE) is None


def test_at_most_one_recent_score_is_not_a_drop() -> None:
    assert no_drop([5, 4] * 50, [])
    assert no_drop([5, 4] * 50, [0])


def test_evidence_of_a_hundred_thousand_scores_is_a_finite_number() -> None:
    found = drop([5] * 30, [0] * 100_000)
    assert 1e300 < found.evidence < float("inf")
