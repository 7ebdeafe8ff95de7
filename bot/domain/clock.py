"""Clocks: one for the time of day, and one for measuring elapsed time."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]
"""Returns the current time, with its time zone."""


def utc_now() -> datetime:
    return datetime.now(UTC)


def utc_week(moment: datetime) -> datetime:
    """The beginning of a moment's ISO week, in UTC."""
    day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day - timedelta(days=day.weekday())


def clock_s() -> float:
    """Seconds that never go back and, if the system supports it, go on while the machine is suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
