"""How many requests may be under way at a server that answers slowly, such as one that answers one
at a time.
"""

import asyncio
import math
from asyncio import Future
from collections.abc import Awaitable, Callable
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import openai

T = TypeVar("T")
# Verdicts that fail one after the other, each asked for alone, until the others that wait fail with
# them: of a server that has answered none since it got too many, and of any other, because single
# texts may take it too long.
_ENOUGH_OF_SILENT = 2
_ENOUGH = 4


class Throttle:
    """Lets requests pass: all at first, half as many after one timed out, slowly more after
    answers.

    The verdict that must be there first goes first, so that one after the other is finished. If
    none was answered while one timed out, the server may hang, and one at a time is left to find
    out; if these fail, so do all that wait.
    """

    def __init__(self) -> None:
        self._limit: int | None = None
        self._silent_at: int | None = (
            None  # the number of answers when none came while one timed out
        )
        self._begun = self._under_way = self._most = 0
        self._answers = self._cuts = self._answered = 0
        self._waiting: list[tuple[float, int, Future[None]]] = []
        self._order = count()
        self._failed: set[float] = (
            set()
        )  # of what failed since the last answer, when it had to be there

    async def run(
        self, request: Callable[[], Awaitable[T]], timeout_s: float, give_up_at: float = math.inf
    ) -> T:
        """The answer to `request`, sent in its turn, and again if it came too late and the server
        had others to answer.

        Raises TimeoutError if the server hangs.
        """
        while True:
            await self._enter(give_up_at)
            self._begun += 1
            self._most = max(self._most, self._under_way)
            alone = self._begun if self._under_way == 1 else None
            cuts = self._cuts
            answered = self._answered
            try:
                async with asyncio.timeout(timeout_s):
                    answer = await request()
            except TimeoutError:
                if alone == self._begun:
                    self._fail(give_up_at)
                    raise
                if cuts == self._cuts:  # not yet cut for one that began at the same time
                    is_silent = self._answered == answered
                    self._silent_at = answered if is_silent else None
                    half = 1 if is_silent else max(1, self._under_way // 2)
                    self._limit = half
                    self._answers = 0
                    self._cuts = cuts + 1
            else:
                self._count()
                return answer
            finally:
                self._leave()

    async def _enter(self, give_up_at: float) -> None:
        if not (self._is_full or any(not place.done() for *_, place in self._waiting)):
            self._under_way += 1
            return
        place: Future[None] = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (give_up_at, next(self._order), place))
        try:
            await place
        except BaseException:
            if not place.cancelled() and place.exception() is None:  # the turn came just before
                self._leave()
            raise

    def _leave(self) -> None:
        self._under_way -= 1
        while self._waiting and not self._is_full:
            *_, place = heappop(self._waiting)
            if not place.cancelled():
                self._under_way += 1
                place.set_result(None)

    def _fail(self, give_up_at: float) -> None:
        self._failed.add(give_up_at)
        if len(self._failed) >= (
            _ENOUGH_OF_SILENT if self._answered == self._silent_at else _ENOUGH
        ):
            for *_, place in self._waiting:
                if not place.done():
                    place.set_exception(TimeoutError())
            self._waiting.clear()

    @property
    def _is_full(self) -> bool:
        return self._limit is not None and self._under_way >= self._limit

    def _count(self) -> None:
        self._answered += 1
        self._answers += 1
        self._failed.clear()
        if (
            self._limit is not None and self._answers >= 4 * self._limit
        ):  # four rounds, then one more at a time
            self._limit = None if self._limit >= self._most else self._limit + 1
            self._answers = 0


_THROTTLES: "WeakKeyDictionary[openai.AsyncOpenAI, Throttle]" = WeakKeyDictionary()


def throttle_of(client: "openai.AsyncOpenAI") -> Throttle:
    return _THROTTLES.setdefault(client, Throttle())
