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
        ("last week", "2026-11-16T08", "2026-11-23T08"),
        ("4 weeks", "2026-11-01T12", "2026-11-29T12"),
        ("October", "2026-09-30T22", "2026-10-31T23"),
        ("oct 2025", "2025-09-30T22", "2025-10-31T23"),
        ("December", "2025-11-30T23", "2025-12-31T23"),  # this year's is still to come
        ("november", "2026-10-31T23", "2026-11-29T12"),
        ("16 Nov", "2026-11-16T08", "2026-11-23T08"),  # its digest comes in the morning
        ("2026-11-22", "2026-11-16T08", "2026-11-23T08"),
        ("24 December", "2025-12-22T08", "2025-12-29T08"),
    ],
)
def test_a_time_is_read_by_the_channels_clock(text: str, start: str, end: str) -> None:
    week = read_when(text, SCHEDULE, NOW)
    assert (f"{week.start:%Y-%m-%dT%H}", f"{week.end:%Y-%m-%dT%H}") == (start, end)


@each(
    ("text", "why"),
    [
        ("0 weeks", "I do not know the time"),
        ("53 weeks", "I do not know the time"),
        ("2026-12-24", "is still to come"),
        ("January 2027", "is still to come"),
    ],
)
def test_another_time_is_answered_with_those_that_there_are(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_when(text, SCHEDULE, NOW)
