"""A queue in front of a scarce resource: it limits how many use it at once, and shares it fairly."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

from prometheus_client import Gauge

_Line = deque[asyncio.Future[None]]

BACKGROUND = "background"
"""In place of a channel, whose id it cannot be: for requests that are called only if nobody else waits."""


class FairQueue:
    """At most `limit` turns at once; those who wait are called in turn by channel, and within a channel by person.

    With a semaphore, one person's 500 cases would all go before the next person's single case.
    """

    def __init__(self, limit: int, waiting: Gauge | None = None) -> None:
        self._free = limit
        self._waiting = waiting
        self._channels: dict[str, dict[str, _Line]] = {}

    @asynccontextmanager
    async def turn(self, channel_id: str, user_id: str) -> AsyncIterator[None]:
        """Waits for a turn, and gives it back afterwards."""
        if self._free:
            self._free -= 1
        else:
            await self._wait(channel_id, user_id)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, channel_id: str, user_id: str) -> None:
        called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._channels.setdefault(channel_id, {}).setdefault(user_id, deque()).append(called)
        try:
            with self._waiting.track_inprogress() if self._waiting else nullcontext():
                await called
        except asyncio.CancelledError:
            if called.done() and not called.cancelled():
                self._pass_on()  # called just as it was cancelled
            raise

    def _pass_on(self) -> None:
        while self._channels:
            called = self._next()
            if not called.done():
                called.set_result(None)
                return
        self._free += 1

    def _next(self) -> asyncio.Future[None]:
        """The waiting call whose turn it is; its channel and its person go to the end of their lines."""
        channel_id = next((each for each in self._channels if each != BACKGROUND), BACKGROUND)
        people = self._channels.pop(channel_id)
        user_id = next(iter(people))
        line = people.pop(user_id)
        called = line.popleft()
        if line:
            people[user_id] = line
        if people:
            self._channels[channel_id] = people
        return called
