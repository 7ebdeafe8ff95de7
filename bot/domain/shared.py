"""What many people ask for and may be a little old: it is read once for all of them."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Generic, TypeVar

from cachetools import TTLCache

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
_KEPT = timedelta(minutes=1)


class Shared(Generic[K, V]):
    """Keeps at most `most` values, each for as long as `kept`. Concurrent requests for a key share
    one reading.

    Errors are not kept. A reading goes on for the others when a caller gives up, so `read` must end
    by itself.
    """

    def __init__(
        self,
        read: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]],
        clock: Any,
        kept: Any = _KEPT,
        most: int = 10_000,
    ) -> None:
        self._read = read
        self._readings: TTLCache[K, asyncio.Future[Mapping[K, V]]] = TTLCache(most, kept, clock)

    async def of(self, keys: Iterable[K]) -> Mapping[K, V]:
        found = {key: self._readings.get(key) for key in keys}
        if missing := [key for key, reading in found.items() if reading is None]:
            reading = asyncio.ensure_future(self._read(missing))
            reading.add_done_callback(lambda done: self._drop_error(missing, done))
            found |= dict.fromkeys(missing, reading)
            self._readings.update(dict.fromkeys(missing, reading))
        return {
            key: (await asyncio.shield(reading))[key] for key, reading in found.items() if reading
        }

    def forget(self, key: K) -> None:
        self._readings.pop(key, None)

    def _drop_error(self, keys: Iterable[K], reading: asyncio.Future[Mapping[K, V]]) -> None:
        for key in keys:
            if (reading.cancelled() or reading.exception()) and self._readings.get(key) is reading:
                self.forget(key)


class AnswerCache(Shared[K, V]):
    """Shares answers that are asked for one by one."""

    def __init__(
        self,
        ask: Callable[[K], Awaitable[V]],
        kept_s: float,
        most: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        async def ask_each(keys: Sequence[K]) -> Mapping[K, V]:
            return {key: await ask(key) for key in keys}

        super().__init__(ask_each, clock, kept_s, most)

    async def get(self, key: K) -> V:
        return (await self.of([key]))[key]
