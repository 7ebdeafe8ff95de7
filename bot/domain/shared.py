"""What many people ask for and may be a little old: it is asked once for all of them."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from typing import Generic, TypeVar

from cachetools import TTLCache

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class AnswerCache(Generic[K, V]):
    """Keeps at most `most` answers, each for as long as `kept_s`. Concurrent requests for a key
    share one.

    Errors are not kept. A request goes on for the others when a caller gives up, so `ask` must end
    by itself.
    """

    def __init__(
        self,
        ask: Callable[[K], Awaitable[V]],
        kept_s: float,
        most: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._answers: TTLCache[K, asyncio.Future[V]] = TTLCache(most, kept_s, clock)

    async def get(self, key: K) -> V:
        answer = self._answers.get(key)
        if answer is None:
            answer = asyncio.ensure_future(self._ask(key))
            answer.add_done_callback(partial(self._drop_error, key))
            self._answers[key] = answer
        return await asyncio.shield(answer)

    def forget(self, key: K) -> None:
        self._answers.pop(key, None)

    def _drop_error(self, key: K, answer: asyncio.Future[V]) -> None:
        if (answer.cancelled() or answer.exception()) and self._answers.get(key) is answer:
            self.forget(key)
