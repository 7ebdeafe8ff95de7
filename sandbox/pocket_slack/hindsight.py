"""A clock that can go back, so that a new workspace has older messages."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from pocket_slack.clock import Clock, Timer


class Hindsight:
    """Another clock's time, except inside `back`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._start = clock.now()
        self._past: float | None = None

    @contextmanager
    def back(self, ago: timedelta) -> Iterator[None]:
        """Inside the `with` block, the time is that long before this clock was made."""
        self._past = self._start - ago.total_seconds()
        try:
            yield
        finally:
            self._past = None

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._clock.now() if self._past is None else self._past

    def call_later(self, delay_s: float, callback: Callable[[], object]) -> Timer:
        """Runs `callback` once, `delay_s` seconds from now."""
        return self._clock.call_later(delay_s, callback)
