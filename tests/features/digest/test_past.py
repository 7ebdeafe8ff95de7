"""The times that `/judge stats` and `judge-bot digest --week` know."""

from datetime import UTC, datetime

import pytest

from bot.domain.week import Schedule
from bot.features.digest.past import read_when
from tests.tables import each

SCHEDULE = Schedule.parse("monday", "09:00", "Europe/Berlin")
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)  # a Sunday


@each(
    ("text", "start", "end"),
    [
        ("", "2026-11-23T08", "2026-11-30T08"),
        ("This week", "2026-11-23T08", "2026-11-30T08"),
        ("last week", "2026-11-16T08", "2026-11-23T08"),
        ("4 weeks", "2026-11-01T12", "2026-11-29T12"),
        ("October", "2026-09-30T22", "2026-10-31T23"),
        ("oct 2025", "2025-09-30T22", "2025-10-31T23"),
        ("December", "2025-11-30T23", "2025-12-31T23"),  # this year's is still to come
        ("november", "2026-10-31T23", "2026-11-29T12"),
        ("16 Nov", "2026-11-16T08", "2026-11-23T08"),  # its digest comes in the morning
        ("Nov 16", "2026-11-16T08", "2026-11-23T08"),
        ("2026-11-22", "2026-11-16T08", "2026-11-23T08"),
        ("24 December", "2025-12-22T08", "2025-12-29T08"),
        ("29 Nov", "2026-11-23T08", "2026-11-30T08"),
    ],
)
def test_a_time_is_read_by_the_channels_clock(text: str, start: str, end: str) -> None:
    week = read_when(text, SCHEDULE, NOW)
    assert (f"{week.start:%Y-%m-%dT%H}", f"{week.end:%Y-%m-%dT%H}") == (start, end)


@each("text", ["yesterday", "0 weeks", "53 weeks", "31 Nov", "2026-13-01", "Smarch", "4", "last"])
def test_another_word_is_answered_with_the_times_that_there_are(text: str) -> None:
    with pytest.raises(ValueError, match="I do not know the time"):
        read_when(text, SCHEDULE, NOW)


@each("text", ["2026-12-24", "January 2027", "24 Dec 2026"])
def test_there_is_no_future(text: str) -> None:
    with pytest.raises(ValueError, match="is still to come"):
        read_when(text, SCHEDULE, NOW)
