"""Clocks for the time of day and for elapsed time, and the time within which a request must be
accepted.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
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
    """Seconds that never go back and, if the system supports it, go on while the machine is
    suspended.
    """
    return (
        time.clock_gettime(time.CLOCK_BOOTTIME)
        if hasattr(time, "CLOCK_BOOTTIME")
        else time.monotonic()
    )


_until: ContextVar[float | None] = ContextVar("until", default=None)


class TooLateError(Exception):
    """The requester may have been told that the request failed, so it is no longer accepted."""


@contextmanager
def accepted_within(seconds: float) -> Iterator[None]:
    """Requests made inside the block are accepted within this many seconds, or not at all."""
    token = _until.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _until.reset(token)


def check_deadline() -> None:
    """Raises TooLateError if the deadline for accepting the request has passed."""
    until = _until.get()
    if until is not None and time.monotonic() > until:
        raise TooLateError("it waited too long; Slack has already shown an error to the person")
