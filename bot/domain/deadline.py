"""How long whoever asks for something waits to hear that it was accepted; later, nothing of it may be."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_until: ContextVar[float | None] = ContextVar("until", default=None)


class TooLateError(Exception):
    """Whoever asked may have been told that it failed, so it is not accepted any more."""


@contextmanager
def accepted_within(seconds: float) -> Iterator[None]:
    """What is asked for in here is accepted within so many seconds, or not at all."""
    token = _until.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _until.reset(token)


def check_deadline() -> None:
    """Nothing, where what is under way may still be accepted.

    Raises:
        TooLateError: It may not.
    """
    until = _until.get()
    if until is not None and time.monotonic() > until:
        raise TooLateError("it has waited for too long; Slack has told its person that it failed")
