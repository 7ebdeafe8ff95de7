"""A queue in front of something scarce: so many at once, and nobody's line holds up another's."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot import metrics


class FairQueue:
    """At most `limit` at once; who waits is called in turn by key, and within one key in the order of asking.

    With a semaphore, 500 cases of one channel would all go before the next channel's single one.
    """

    def __init__(self, limit: int) -> None:
        self._free = limit
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncIterator[None]:
        """Waits for a turn, and gives it back afterwards."""
        if self._free:
            self._free -= 1
        else:
            await self._wait(key)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, key: str) -> None:
        called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, deque()).append(called)
        try:
            with metrics.QUEUE.track_inprogress():
                await called
        except asyncio.CancelledError:
            if called.done() and not called.cancelled():
                self._pass_on()  # called in the same moment
            raise

    def _pass_on(self) -> None:
        while self._waiting:
            key = next(iter(self._waiting))
            queue = self._waiting.pop(key)
            called = queue.popleft()
            if queue:
                self._waiting[key] = queue  # to the end: the other keys come first
            if not called.done():
                called.set_result(None)
                return
        self._free += 1
