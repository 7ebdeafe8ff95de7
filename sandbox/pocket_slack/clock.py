"""Clocks to pass in: the real one, and one that tests advance by hand."""

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A scheduled callback."""

    def cancel(self) -> None:
        """Cancels the callback."""


class Clock(Protocol):
    """The source of the sandbox's time."""

    def now(self) -> float:
        """Seconds since the epoch."""

    def call_later(self, delay_s: float, callback: Callable[[], object]) -> Timer:
        """Runs `callback` once, `delay_s` seconds from now."""


class SystemClock:
    """The machine's time; callbacks run in the current event loop."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def call_later(self, delay_s: float, callback: Callable[[], object]) -> Timer:
        """Runs `callback` once, `delay_s` seconds from now."""
        return asyncio.get_running_loop().call_later(delay_s, callback)


class _ManualTimer:
    def __init__(self, callback: Callable[[], object]) -> None:
        self.callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        self.callback = None


class ManualClock:
    """A clock that stands still until `advance` is called."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now
        self._due: list[tuple[float, int, _ManualTimer]] = []
        self._order = itertools.count()

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._now

    def call_later(self, delay_s: float, callback: Callable[[], object]) -> Timer:
        """Runs `callback` when `advance` has passed `delay_s` seconds."""
        timer = _ManualTimer(callback)
        heapq.heappush(self._due, (self._now + delay_s, next(self._order), timer))
        return timer

    def advance(self, seconds: float) -> None:
        """Advances the clock, and runs the callbacks that fall due in order."""
        end = self._now + seconds
        while self._due and self._due[0][0] <= end:
            self._now, _, timer = heapq.heappop(self._due)
            if timer.callback is not None:
                timer.callback()
        self._now = end
