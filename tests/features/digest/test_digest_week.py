"""Weeks in a channel's zone, and when their digests are due, through clock changes and turns of the year."""

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.week import Schedule, Week, parse_day, parse_time, parse_zone
from tests.tables import each

BERLIN, TOKYO, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Tokyo"), ZoneInfo("America/New_York")
ZONES = [ZoneInfo(name) for name in ("UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia", "Australia/Lord_Howe")]

moments = st.integers(946_684_800, 2_208_988_800).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))
schedules = st.builds(
    Schedule,
    st.sampled_from(["monday", "thursday", "sunday"]),
    st.times().map(lambda at: time(at.hour, at.minute)),
    st.sampled_from(ZONES),
)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


def test_a_week_is_monday_to_sunday_on_the_zones_clocks() -> None:
    week = Week.of(utc(2026, 11, 22, 22, 59), BERLIN)
    assert week.label == "2026-W47"
    assert (week.start, week.end) == (utc(2026, 11, 15, 23), utc(2026, 11, 22, 23))
    assert Week.of(utc(2026, 11, 22, 23), BERLIN).label == "2026-W48"


def test_one_moment_belongs_to_different_weeks_in_different_zones() -> None:
    sunday_noon = utc(2026, 11, 22, 16)
    assert Week.of(sunday_noon, NEW_YORK).label == "2026-W47"
    assert Week.of(sunday_noon, TOKYO).label == "2026-W48"


@each(
    ("day", "label"),
    [
        (utc(2027, 1, 1), "2026-W53"),  # 2026 has 53 weeks: its first day is a Thursday
        (utc(2027, 1, 4), "2027-W01"),
        (utc(2024, 12, 30), "2025-W01"),
    ],
)
def test_the_turn_of_the_year_follows_iso_8601(day: datetime, label: str) -> None:
    assert Week.of(day, ZoneInfo("UTC")).label == label


def test_the_week_of_a_clock_change_is_an_hour_shorter_or_longer() -> None:
    spring, autumn = Week.of(utc(2026, 3, 29, 12), BERLIN), Week.of(utc(2026, 10, 25, 12), BERLIN)
    assert spring.end - spring.start == timedelta(days=7, hours=-1)
    assert autumn.end - autumn.start == timedelta(days=7, hours=1)


@each(
    ("until", "end"),
    [
        # Wednesday, 10:30 in Berlin: through the change of clocks on 25 October the days differ by an hour in UTC.
        (utc(2026, 10, 28, 9, 30), utc(2026, 10, 21, 8, 30)),
        (utc(2026, 11, 18, 9, 30), utc(2026, 11, 11, 9, 30)),
        (utc(2026, 11, 15, 23), utc(2026, 11, 8, 23)),  # as the week begins
        (utc(2026, 11, 22, 23), utc(2026, 11, 15, 23)),  # once it is over
    ],
)
def test_the_same_days_of_last_week_end_at_the_same_time_of_day(until: datetime, end: datetime) -> None:
    week = Week.of(until - timedelta(microseconds=1) if until == utc(2026, 11, 22, 23) else until, BERLIN)
    assert week.same_days_before(until) == (week.before().start, end)


@given(moments, st.sampled_from(ZONES))
def test_the_same_days_of_last_week_lie_in_it(moment: datetime, zone: ZoneInfo) -> None:
    week = Week.of(moment, zone)
    start, end = week.same_days_before(moment)
    assert week.before().start == start <= end <= week.start
    assert week.same_days_before(week.end) == (start, week.start)


@given(moments, st.sampled_from(ZONES))
def test_weeks_follow_each_other_without_a_gap(moment: datetime, zone: ZoneInfo) -> None:
    week = Week.of(moment, zone)
    assert week.start <= moment < week.end
    assert week.before().end == week.start
    assert Week.of(week.end, zone).before() == week


def test_nine_in_the_morning_stays_nine_through_the_summer() -> None:
    schedule = Schedule.parse("monday", "09:00", "Europe/Berlin")
    assert schedule.due(Week(2026, 47, BERLIN)) == utc(2026, 11, 23, 8)
    assert schedule.due(Week(2026, 27, BERLIN)) == utc(2026, 7, 6, 7)


def test_a_day_later_in_the_week_is_about_the_week_before() -> None:
    schedule = Schedule.parse("friday", "16:00", "UTC")
    assert schedule.due(Week(2026, 47, ZoneInfo("UTC"))) == utc(2026, 11, 27, 16)


def test_a_time_that_is_skipped_comes_later_by_the_skip() -> None:
    # Berlin, 29 March 2026: 02:00 becomes 03:00, so 02:30 on the old clock is 01:30 UTC, and 03:30 on the new one.
    due = Schedule.parse("sunday", "02:30", "Europe/Berlin").due(Week(2026, 12, BERLIN))
    assert due == utc(2026, 3, 29, 1, 30)
    assert due.astimezone(BERLIN).time() == time(3, 30)


def test_of_a_time_that_occurs_twice_the_first_counts() -> None:
    # Berlin, 25 October 2026: 02:30 is 00:30 UTC, and an hour later 01:30 UTC.
    assert Schedule.parse("sunday", "02:30", "Europe/Berlin").due(Week(2026, 42, BERLIN)) == utc(2026, 10, 25, 0, 30)


def test_the_latest_week_is_the_newest_whose_digest_is_due() -> None:
    schedule = Schedule.parse("monday", "09:00", "Europe/Berlin")
    assert schedule.latest(utc(2026, 11, 23, 7, 59)).label == "2026-W46"
    assert schedule.latest(utc(2026, 11, 23, 8)).label == "2026-W47"


@given(moments, schedules)
def test_the_latest_digest_was_due_less_than_a_week_and_an_hour_ago(now: datetime, schedule: Schedule) -> None:
    week = schedule.latest(now)
    assert schedule.due(week) <= now
    assert now - schedule.due(week) <= timedelta(days=7, hours=1)
    assert week.end <= schedule.due(week)
    assert now < schedule.due(Week.of(week.end, schedule.zone)) <= now + timedelta(days=7, hours=1)


@each(
    ("parse", "text", "found"),
    [
        (parse_day, "Monday", "monday"),
        (parse_day, "TUES", "tuesday"),
        (parse_time, "9", time(9)),
        (parse_time, "23:59", time(23, 59)),
        (parse_time, "0:05", time(0, 5)),
        (parse_zone, "europe/berlin", BERLIN),
        (parse_zone, "utc", ZoneInfo("UTC")),
    ],
)
def test_days_times_and_zones_are_read(parse: Callable[[str], Any], text: str, found: object) -> None:
    assert parse(text) == found


@each(
    ("parse", "text", "error"),
    [
        *((parse_time, text, "not a time of day") for text in ("", "24:00", "9:60", "9am", "٩")),
        *((parse_day, text, "not a day of the week") for text in ("mo", "someday")),
    ],
)
def test_other_days_and_times_are_refused(parse: Callable[[str], Any], text: str, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        parse(text)


@each(
    ("text", "hint"),
    [
        ("Berlin", "the closest is Europe/Berlin"),
        ("new york", "the closest is America/New_York"),
        ("../etc/passwd", "expected one such as Europe/Berlin"),
        ("", "expected one such as Europe/Berlin"),
    ],
)
def test_an_unknown_zone_names_the_closest(text: str, hint: str) -> None:
    with pytest.raises(ValueError, match="not a time zone") as error:
        parse_zone(text)
    assert hint in str(error.value)
