"""The time within which a request must be accepted; after it, the requester is told that it failed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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
