"""Clocks: one that tells the time, and one for measuring how long ago something was."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]
"""Gives the time, aware."""


def utc_now() -> datetime:
    return datetime.now(UTC)


def utc_week(moment: datetime) -> datetime:
    """The beginning of the ISO week in which a moment falls, in UTC."""
    day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day - timedelta(days=day.weekday())


def clock_s() -> float:
    """Seconds that never go back and, where the system can tell, go on while the machine is suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
