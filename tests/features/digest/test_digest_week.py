"""Weeks in a channel's zone, and when their digests are due, through clock changes and turns of the
year.
"""

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.week import Schedule, parse_day, parse_time, parse_zone
from tests.tables import each

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = [
    ZoneInfo(name)
    for name in ("UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia", "Australia/Lord_Howe")
]

moments = st.integers(946_684_800, 2_208_988_800).map(
    lambda seconds: datetime.fromtimestamp(seconds, UTC)
)
schedules = st.builds(
    Schedule,
    st.sampled_from(["monday", "thursday", "sunday"]),
    st.times().map(lambda at: time(at.hour, at.minute)),
    st.sampled_from(ZONES),
)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


def schedule(day: str, at: str = "09:00", zone: str = "Europe/Berlin") -> Schedule:
    return Schedule.parse(day, at, zone)


def test_a_week_ends_when_its_digest_is_due() -> None:
    friday = schedule("friday", "16:00")
    over = friday.latest(utc(2026, 11, 27, 15))
    assert (over.start, over.end) == (utc(2026, 11, 20, 15), utc(2026, 11, 27, 15))
    assert over.label == "2026-11-27T15:00+00:00"
    assert friday.latest(utc(2026, 11, 27, 14, 59)) == over.before()
    assert friday.current(utc(2026, 11, 27, 15)).start == over.end


def test_nine_in_the_morning_stays_nine_when_the_clocks_change() -> None:
    week = schedule("monday").latest(utc(2026, 10, 26, 12))
    assert (week.start, week.end) == (utc(2026, 10, 19, 7), utc(2026, 10, 26, 8))
    assert week.end - week.start == timedelta(days=7, hours=1)


@settings(max_examples=50)
@given(moments, schedules)
def test_weeks_follow_each_other_without_a_gap(now: datetime, schedule: Schedule) -> None:
    over = schedule.latest(now)
    current = schedule.current(now)
    assert over.end == current.start <= now < current.end
    assert over.before().end == over.start
    assert now - over.end <= timedelta(days=7, hours=1)


def test_a_time_that_is_skipped_comes_later_by_the_skip_and_of_one_twice_the_first() -> None:
    # Berlin, 29 March 2026: 02:00 becomes 03:00, so 02:30 on the old clock is 01:30 UTC.
    skipped = schedule("sunday", "02:30").latest(utc(2026, 3, 29, 12))
    assert skipped.end == utc(2026, 3, 29, 1, 30)
    # 25 October 2026: 02:30 is 00:30 UTC, and an hour later 01:30 UTC.
    twice = schedule("sunday", "02:30").latest(utc(2026, 10, 25, 12))
    assert twice.end == utc(2026, 10, 25, 0, 30)


FRIDAY = utc(2026, 11, 27, 15)


@each(
    ("day", "last", "start"),
    [
        ("monday", FRIDAY, FRIDAY),  # 2 days and 17 hours, and none of them twice
        (
            "sunday",
            FRIDAY - timedelta(weeks=1),
            FRIDAY - timedelta(weeks=1),
        ),  # 9 days, and none left out
        (
            "sunday",
            FRIDAY - timedelta(weeks=3),
            utc(2026, 11, 22, 8),
        ),  # the digest was off meanwhile
        ("saturday", FRIDAY, None),  # the replies of 17 hours can wait for the next digest
    ],
)
def test_after_a_changed_day_no_reply_is_left_out_and_none_is_counted_twice(
    day: str, last: datetime, start: datetime | None
) -> None:
    week = schedule(day).latest(utc(2026, 11, 30, 12)).after(last)
    assert (week and week.start) == start


@each(
    ("parse", "text", "error"),
    [
        *((parse_time, text, "not a time of day") for text in ("", "24:00", "9am")),
        (parse_day, "mo", "not a day of the week"),
        (parse_zone, "../etc/passwd", "not a time zone; expected one such as Europe/Berlin"),
        (parse_zone, "", "not a time zone; expected one such as Europe/Berlin"),
    ],
)
def test_other_days_times_and_zones_are_refused(
    parse: Callable[[str], Any], text: str, error: str
) -> None:
    with pytest.raises(ValueError, match=error):
        parse(text)
