"""The states of a standing in constructed series, and its model beside sums worked by hand."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from math import sqrt
from random import Random
from statistics import NormalDist, fmean

import pytest

from judge.evaluation.standing import (
    DatedScore,
    Direction,
    Event,
    Look,
    State,
    below,
    days_until_clear,
    look,
    step_at,
)
from judge.evaluation.steps import SIZE, WAYS, WEEKDAY, step, tamed, to_model
from judge.evaluation.tally import tally
from judge.scoring.rubric import Scale
from tests.tables import each

SCALE = Scale(0, 5)
FIRST = date(2026, 6, 1)  # a Monday


def on(number: int) -> date:
    return FIRST + timedelta(days=number)


def series(levels: Sequence[float], replies: int = 40, seed: int = 1) -> list[DatedScore]:
    """As many scores of 2 to 5 or so on each day, around its level."""
    random = Random(seed)
    return [
        DatedScore(min(max(round(random.gauss(level, 0.8)), 0), 5), on(number))
        for number, level in enumerate(levels)
        for _ in range(replies)
    ]


def follow(scores: Sequence[DatedScore], *days: int) -> dict[int, Look]:
    """One look on each of these days, each with what the one before remembers."""
    looks = dict[int, Look]()
    state = State()
    for number in days:
        looks[number] = look(scores, on(number), SCALE, state)
        state = looks[number].state
    return looks


def events(looks: dict[int, Look]) -> list[tuple[int, Event]]:
    return [(number, found.event) for number, found in looks.items() if found.event]


def test_drop_is_told_once_and_ends_when_the_level_is_back() -> None:
    scores = series([4] * 40 + [3] * 14 + [4] * 16)
    looks = follow(scores, *range(38, 44), 48, *range(53, 58), 63, 70)
    (begun, first), (ended, second) = events(looks)
    assert (first, second) == (Event.BEGAN, Event.BACK)
    assert begun <= 42
    assert ended <= 57
    began = looks[begun]
    assert (began.state.direction, began.state.since) == (Direction.LOWER, on(40))
    assert began.level.mean < began.before
    back = looks[ended]
    assert (back.state.direction, back.turned) == (Direction.STEADY, on(54))
    assert back.state.ended == (on(40), on(54))


@each(("number", "event"), [(67, None), (68, Event.STAYED)])
def test_drop_that_lasts_is_the_level_after_four_weeks(number: int, event: Event | None) -> None:
    told = State(Direction.LOWER, since=on(40), step=-1.0)
    found = look(series([4] * 40 + [3] * 40), on(number), SCALE, told)
    assert found.event is event
    assert found.state == (State(Direction.STEADY, origin=on(40)) if event else told)
    assert found.level.mean == pytest.approx(3, abs=0.1)


def test_drop_goes_further_and_what_is_told_is_all_of_it() -> None:
    told = State(Direction.LOWER, since=on(40), step=-1.0)
    found = look(series([4.5] * 40 + [3.5] * 10 + [2.5] * 8), on(58), SCALE, told)
    assert (found.event, found.state.since, found.state.ended) == (Event.FURTHER, on(40), (on(50),))
    assert found.state.step == pytest.approx(-2, abs=0.3)
    assert found.before == pytest.approx(4.5, abs=0.3)


def test_drop_goes_no_further_by_less_than_half_of_what_was_told() -> None:
    told = State(Direction.LOWER, since=on(40), step=-1.5)
    found = look(series([4.5] * 40 + [3] * 10 + [2.5] * 8), on(58), SCALE, told)
    assert (found.event, found.state) == (None, told)


def test_step_is_on_a_day_with_scores() -> None:
    # Nothing is scored on weekends, the days 40 and 41.
    scores = [found for found in series([4] * 40 + [3] * 6) if found.day.weekday() < 5]
    assert look(scores, on(46), SCALE, State()).state.since == on(42)


@each(("days", "late", "event"), [(8, 3.75, Event.BACK), (28, 3.75, Event.BACK), (8, 3.2, None)])
def test_drop_of_which_less_than_half_is_left_has_ended(
    days: int, late: float, event: Event | None
) -> None:
    told = State(Direction.LOWER, since=on(40), step=-1.0)
    found = look(series([4] * 40 + [late] * days), on(40 + days), SCALE, told)
    assert (found.event, found.turned) == (event, None)


@each(("number", "event"), [(87, None), (88, Event.STAYED)])
def test_month_begins_anew_with_a_further_step(number: int, event: Event | None) -> None:
    scores = series([4.5] * 40 + [3.5] * 20 + [2.5] * 35)
    told = State(Direction.LOWER, since=on(40), step=-2.0, ended=(on(60),))
    assert look(scores, on(number), SCALE, told).event is event


def test_rise_is_the_drop_turned_round_and_its_size_is_on_the_rubrics_scale() -> None:
    scores = series([4] * 40 + [3] * 4)
    drop = look(scores, on(44), SCALE, State()).state
    turned = [found._replace(score=11 - 2 * found.score) for found in scores]
    rise = look(turned, on(44), Scale(1, 11), State()).state
    assert (drop.direction, rise.direction) == (Direction.LOWER, Direction.HIGHER)
    assert rise.step == pytest.approx(-2 * drop.step)


@each(("number", "direction"), [(36, Direction.TOO_FEW), (37, Direction.STEADY)])
def test_thirty_scores_must_be_older_than_a_week(number: int, direction: Direction) -> None:
    found = look(series([4] * 40, replies=1), on(number), SCALE, State())
    assert (found.state.direction, found.n) == (direction, 28)


def test_scores_before_the_origin_and_of_today_do_not_count() -> None:
    scores = series([1] * 20 + [4] * 30)
    found = look(scores, on(45), SCALE, State(Direction.STEADY, origin=on(20)))
    assert (found.event, found.n) == (None, 25 * 40)


@each("is_known", [True, False])
def test_channel_that_comes_is_no_change(is_known: bool) -> None:
    good = [found._replace(channel="good") for found in series([4.5] * 60)]
    name = "poor" if is_known else "good"
    poor = [found._replace(channel=name) for found in series([2.5] * 60) if found.day >= on(45)]
    assert (events(follow([*good, *poor], 44, 46, 48, 52)) == []) == is_known


def test_lower_weekends_are_no_change() -> None:
    levels = [4 - 0.8 * (number % 7 > 4) for number in range(49)]
    counted = tally(series(levels, replies=100), on(49), SCALE)
    assert to_model(counted).having(step(on(47), on(49))).evidence < 1


def test_thread_that_repeats_a_score_counts_as_one() -> None:
    # 98 threads of five, a 5 or a 3 each, two on each day: the mean is 4, and each thread's sum is
    # 5 above or below it. Squares of scores: 490. Those of sums: 98 * 25, five times as many. With
    # 0.3 of a lowest score (4 below the mean), and of a thread of five lowest, in proportion:
    scores = [
        DatedScore(score, on(day), thread=(day, score))
        for day in range(49)
        for score in (5, 3)
        for _ in range(5)
    ]
    alone = [found._replace(thread=None) for found in scores]
    squares = 490 + 0.3 * 16
    variance = squares / (490 - 1 + 0.3)
    inflation = (2450 + 0.3 * 25 * 16) / (490 + 0.3 * 5 * 16)
    assert tally(alone, on(49), SCALE).variance == pytest.approx(variance)
    assert tally(scores, on(49), SCALE).variance == pytest.approx(variance * inflation)


def test_evidence_of_a_step_between_two_days_is_a_ratio_of_normal_densities() -> None:
    # Only two days have scores, so all depends on the difference of their means, -0.4. Beside a
    # step it has the variance S of both means and of both days' levels, which are alike to the
    # correlation r: 2 * (1 - r) * deviation^2 for the days, and 2 * WEEKDAY^2 for the weekdays.
    # A step adds its own variance before it is seen, s^2.
    scores = [DatedScore(score, on(47)) for score in (3, 4) * 50]
    scores += [DatedScore(score, on(48)) for score in (2, 3, 3, 3, 3, 3, 3, 3, 4, 4) * 10]
    today = on(49)
    counted = replace(tally(scores, today, SCALE), skew=0.0)
    found = to_model(counted).having(step(on(48), today))
    with_step = 0.0
    without = 0.0
    means = 0.0
    for deviation, resembles, weight in WAYS:
        variance = 2 * (1 - resembles) * deviation**2 + 2 * WEEKDAY**2 + 2 * counted.variance / 100
        density = weight * NormalDist(0, sqrt(variance + SIZE**2)).pdf(-0.4)
        with_step += density
        without += weight * NormalDist(0, sqrt(variance)).pdf(-0.4)
        means += density * -0.4 * SIZE**2 / (variance + SIZE**2)
    assert found.evidence == pytest.approx(with_step / without)
    assert found.estimate(1).mean == pytest.approx(means / with_step)


def test_larger_variance_of_the_last_week_counts_half() -> None:
    # 42 days of 3 and 5, then a week of 2 and 6 less one: squares 1 and 4, and 0.3 of a lowest
    # score, 4 below the mean.
    scores = [DatedScore(score, on(day)) for day in range(42) for score in (3, 5)]
    scores += [DatedScore(score, on(day)) for day in range(42, 49) for score in (2, 6)]
    scores = [found._replace(score=found.score - 1) for found in scores]
    variance = (84 + 14 * 4 + 0.3 * 9) / (98 - 1 + 0.3)
    assert tally(scores, on(49), SCALE).variance == pytest.approx((variance + 4) / 2)


@each(
    ("before", "late"),
    [
        # A step of a point; in all scores it is a part of the variance, too.
        ([2, 4] * 5, [1, 3] * 5),
        # The same, with a variance of 5.25 instead of 2.25: the third moment is 4 times the second.
        ([0] + [5] * 9, [0] * 3 + [5] * 7),
    ],
)
def test_step_and_the_spread_that_comes_with_it_are_no_larger_variance(
    before: list[int], late: list[int]
) -> None:
    given = before * 42 + late * 7
    mean = fmean(given)
    squares = sum((score - mean) ** 2 for score in given) + 0.3 * max(mean, 5 - mean) ** 2
    scores = [DatedScore(score, on(i // 10)) for i, score in enumerate(given)]
    expected = squares / (490 - 1 + 0.3)
    assert tally(scores, on(49), SCALE).variance == pytest.approx(expected)


def test_few_scores_far_below_the_others_are_what_a_skewed_distribution_gives() -> None:
    # One score of 20 is a 0, the others are 5. Three 0 among eight have probability
    # 1 - .95^8 - 8 * .05 * .95^7 - 28 * .05^2 * .95^6 = .0058, which is 2.52 standard deviations.
    # The mean, 5 * 5 / 8, is further below 4.75: by 1.625 / sqrt(25 * .05 * .95 / 8) = 4.22.
    variance = 25 * 0.05 * 0.95
    skew = -0.9 / sqrt(0.05 * 0.95)
    deviation = -1.625 / sqrt(variance / 8)
    of_scores = 8 / variance

    def root(effect: float) -> float:
        precision = of_scores + 1e-6
        return abs(effect) * sqrt(tamed(effect, precision, of_scores, 1e3, skew / sqrt(variance)))

    assert root(deviation) == pytest.approx(2.52, abs=0.03)
    assert root(-deviation) == -deviation


def test_level_is_below_that_before_a_drop_though_a_better_channel_got_busy() -> None:
    def scores(level: float, channel: str, days: range, replies: int) -> list[DatedScore]:
        drawn = series([level] * days.stop, replies, seed=days.start)
        return [one._replace(channel=channel) for one in drawn if one.day >= on(days.start)]

    before = [*scores(4.5, "good", range(40), 5), *scores(2.5, "poor", range(40), 35)]
    after = [*scores(3.8, "good", range(40, 46), 80), *scores(1.8, "poor", range(40, 46), 35)]
    found = look([*before, *after], on(46), SCALE, State())
    assert found.state.direction is Direction.LOWER
    assert fmean(one.score for one in before) < found.level.mean < found.before


def test_release_is_compared_with_what_was_before_if_there_are_enough_scores() -> None:
    scores = series([4] * 30 + [3.5] * 14)
    step = step_at(scores, on(30), on(44), SCALE)
    assert step.is_clear
    assert step.mean == pytest.approx(-0.5, abs=0.15)
    other = step_at(scores, on(37), on(44), SCALE, known=[on(30)])
    assert not other.is_clear
    few = series([4] * 49, replies=1)
    assert step_at(few, on(30), on(49), SCALE)
    assert step_at(few, on(29), on(49), SCALE) is None  # 29 before
    assert step_at(few, on(40), on(49), SCALE) is None  # 9 since


def test_half_a_point_is_seen_the_sooner_the_more_is_scored() -> None:
    def days(replies: int) -> int | None:
        return days_until_clear(series([4] * 40, replies), on(39), on(40), SCALE)

    assert days(40) == 7
    assert days(3) == 14
    assert days(2) is None


def test_mean_below_the_floor_is_told_whatever_it_was_before() -> None:
    scores = series([3] * 49)
    level = below(3.5, scores, on(49), SCALE)
    assert level.mean == pytest.approx(3, abs=0.1)
    assert below(3, scores, on(49), SCALE) is None
    assert below(3.6, series([4] * 45 + [3] * 4), on(49), SCALE)
