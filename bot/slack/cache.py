"""Answers of Slack that are kept for a while."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from typing import Generic, TypeVar

from cachetools import TTLCache

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class AnswerCache(Generic[K, V]):
    """Who asks for the same at the same time shares one call; errors are not kept.

    A call goes on when whoever asked gives up waiting: its answer is good for the next.

    Args:
        ask: What is asked where there is no answer; it must come to an end by itself.
        kept_s: How long an answer is good.
        most: How many answers are kept; the one that was longest not asked for goes first.
        clock: Seconds that never go back.
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
        """The answer; raises what `ask` raises."""
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = asyncio.ensure_future(self._ask(key))
            answer.add_done_callback(partial(self._drop_error, key))
        return await asyncio.shield(answer)

    def forget(self, key: K) -> None:
        """The next who asks is given a new answer."""
        self._answers.pop(key, None)

    def _drop_error(self, key: K, answer: asyncio.Future[V]) -> None:
        if (answer.cancelled() or answer.exception()) and self._answers.get(key) is answer:
            self.forget(key)
