"""The states of a standing in constructed series, and its model beside sums worked by hand."""

from collections.abc import Sequence
from datetime import date, timedelta
from random import Random

import pytest

from judge.evaluation.standing import DatedScore, Direction, Event, Look, State, look
from judge.evaluation.steps import tally
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


def follow(
    scores: Sequence[DatedScore], first: int, last: int, state: State | None = None
) -> dict[int, Look]:
    """One look on each of these days, each with what the one before remembers."""
    looks = dict[int, Look]()
    state = state or State()
    for number in range(first, last + 1):
        looks[number] = look(scores, on(number), SCALE, state)
        state = looks[number].state
    return looks


def events(looks: dict[int, Look]) -> list[tuple[int, Event]]:
    return [(number, found.event) for number, found in looks.items() if found.event]


def test_drop_is_told_once_and_ends_when_the_level_is_back() -> None:
    looks = follow(series([4] * 40 + [3] * 14 + [4] * 16), 38, 70)
    told = events(looks)
    assert [event for _, event in told] == [Event.BEGAN, Event.BACK]
    began, back = (looks[number] for number, _ in told)
    assert told[0][0] <= 42
    assert (began.state.direction, began.state.since) == (Direction.LOWER, on(40))
    assert began.level
    assert began.before
    assert began.level.mean < began.before
    assert told[1][0] <= 57
    assert (back.state.direction, back.turned) == (Direction.STEADY, on(54))
    assert back.state.ended == (on(40), on(54))


def test_drop_that_lasts_is_the_level_after_four_weeks() -> None:
    looks = follow(series([4] * 40 + [3] * 40), 40, 80)
    assert [event for _, event in events(looks)] == [Event.BEGAN, Event.STAYED]
    number, _ = events(looks)[-1]
    since = looks[number - 1].state.since
    assert since
    assert on(number) - since == timedelta(days=28)
    assert looks[number].state == State(Direction.STEADY, origin=since)
    assert looks[80].level
    assert looks[80].level.mean == pytest.approx(3, abs=0.1)


def test_drop_goes_further_and_what_is_told_is_all_of_it() -> None:
    looks = follow(series([4.5] * 40 + [3.5] * 10 + [2.5] * 8), 40, 58)
    (_, _), (number, further) = events(looks)
    assert further is Event.FURTHER
    found = looks[number]
    assert (found.state.since, found.state.ended) == (on(40), (on(50),))
    assert found.state.step == pytest.approx(-2, abs=0.3)
    assert found.step
    assert found.before == pytest.approx(4.5, abs=0.3)


def test_rise_is_the_drop_of_the_scale_turned_round() -> None:
    scores = series([4] * 40 + [3] * 4)
    turned = [found._replace(score=5 - found.score) for found in scores]
    drop = look(scores, on(44), SCALE, State())
    rise = look(turned, on(44), SCALE, State())
    assert (drop.state.direction, rise.state.direction) == (Direction.LOWER, Direction.HIGHER)
    assert drop.step
    assert rise.step
    assert rise.step.mean == pytest.approx(-drop.step.mean)


def test_size_is_on_the_rubrics_scale() -> None:
    scores = series([4] * 40 + [3] * 4)
    wide = [found._replace(score=1 + 2 * found.score) for found in scores]
    one = look(scores, on(44), SCALE, State())
    other = look(wide, on(44), Scale(1, 11), State())
    assert other.state.step == pytest.approx(2 * one.state.step)


@each(("number", "direction"), [(36, Direction.TOO_FEW), (37, Direction.STEADY)])
def test_thirty_scores_must_be_older_than_a_week(number: int, direction: Direction) -> None:
    found = look(series([4] * 40, replies=1), on(number), SCALE, State())
    assert (found.state.direction, found.n) == (direction, 28)


def test_scores_before_the_origin_and_of_today_do_not_count() -> None:
    scores = series([1] * 20 + [4] * 30)
    found = look(scores, on(45), SCALE, State(Direction.STEADY, origin=on(20)))
    assert (found.event, found.n) == (None, 25 * 40)


def test_channel_that_comes_or_goes_is_no_change() -> None:
    good = [found._replace(channel="good") for found in series([4.5] * 60)]
    poor = [found._replace(channel="poor") for found in series([2.5] * 60)]
    comes = [found for found in poor if found.day >= on(45)]
    goes = [found for found in poor if found.day < on(45)]
    for others in (comes, goes):
        assert events(follow([*good, *others], 44, 52)) == []
    pooled = [found._replace(channel=None) for found in [*good, *comes]]
    assert events(follow(pooled, 44, 52))[0][1] is Event.BEGAN


def test_lower_weekends_are_no_change() -> None:
    levels = [4 - 0.5 * (number % 7 > 4) for number in range(70)]
    assert events(follow(series(levels), 35, 70)) == []
    levels = [4 - 0.5 * (number % 7 < 2 and number > 55) for number in range(70)]
    assert events(follow(series(levels), 35, 70)) != []


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
