"""A queue in front of a scarce resource: it limits how many use it at once, and shares it fairly."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from prometheus_client import Gauge

BACKGROUND = "background"
"""In place of a workspace, whose id it cannot be: for requests that are called only if nobody else waits."""


class FairQueue:
    """At most `limit` slots at once; those who wait take turns by the first part of their line,
    then by the next.

    A line is for instance a workspace, a channel and a person. With a semaphore, one person's 500
    cases would all go before the next person's single case.
    """

    def __init__(self, limit: int, waiting: Gauge | None = None) -> None:
        self._free = limit
        self._waiting = waiting
        self._lines: dict[
            str, Any
        ] = {}  # by each part of a line, and at the end those who wait in it

    @asynccontextmanager
    async def slot(self, *line: str) -> AsyncIterator[None]:
        """Waits for a slot, and gives it back afterwards; all lines of a queue have equally many
        parts.
        """
        if self._free:
            self._free -= 1
        else:
            await self._wait(*line)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, *line: str) -> None:
        called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        lines = self._lines
        for part in line[:-1]:
            lines = lines.setdefault(part, {})
        lines.setdefault(line[-1], deque()).append(called)
        try:
            with self._waiting.track_inprogress() if self._waiting else nullcontext():
                await called
        except asyncio.CancelledError:
            if called.done() and not called.cancelled():
                self._pass_on()  # called just as it was cancelled
            raise

    def _pass_on(self) -> None:
        while self._lines:
            called = _next(self._lines)
            if not called.done():
                called.set_result(None)
                return
        self._free += 1


def _next(lines: dict[str, Any]) -> asyncio.Future[None]:
    """The waiting call whose turn it is; each part of its line goes to the end."""
    part = next((each for each in lines if each != BACKGROUND), BACKGROUND)
    rest = lines.pop(part)
    called: asyncio.Future[None] = rest.popleft() if isinstance(rest, deque) else _next(rest)
    if rest:
        lines[part] = rest
    return called
