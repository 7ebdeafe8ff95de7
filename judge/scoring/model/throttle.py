"""How many requests may be under way at a server that answers slowly, such as one that answers one
at a time.
"""

import asyncio
import math
from asyncio import Future
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import openai

T = TypeVar("T")
_ENOUGH = 2  # verdicts that fail in turn, without an answer to any


@dataclass(eq=False, slots=True)
class Sent:
    """A request under way, the server's `number`-th.

    `scope` ends it, and `fails` says that it is not to be sent again. `share_s` is how long it may
    take alone while others wait. `cuts` and `answered` are those of the throttle when it began.
    """

    number: int
    scope: asyncio.Timeout
    share_s: float
    cuts: int
    answered: int
    began: float
    fails: bool = False


class Throttle:
    """Lets requests pass: all at first, half as many after one is late, slowly more after answers.

    The verdict that must be there first goes first, so that one after the other is finished. If one
    is late, those that began last are stopped and sent again in their turn, because a server works
    longest on those that began first. Alone it goes on, within half of its verdict's time if others
    wait. If two in turn get no answer, the server hangs, and all that wait fail.
    """

    def __init__(self) -> None:
        self._limit: int | None = None
        self.under_way: list[Sent] = []  # those that began first come first
        self._entered = self._most = self._begun = 0
        self._newest_answered = self._silences = 0
        self._answers = self._cuts = self._answered = 0
        self._waiting: list[tuple[float, int, Future[None]]] = []
        self._order = count()

    async def run(
        self, request: Callable[[], Awaitable[T]], timeout_s: float, give_up_at: float = math.inf
    ) -> T:
        """The answer to `request`, sent in its turn, and again if it was stopped for others.

        After `timeout_s` it is late. Raises TimeoutError if it has had its share of the time while
        others wait, or if the server hangs.
        """
        loop = asyncio.get_running_loop()
        place = (give_up_at, next(self._order))  # which it keeps
        share_s = max(timeout_s, (give_up_at - loop.time()) / 2)
        while True:
            await self._enter(*place)
            sent = self._begin(share_s)
            timer = loop.call_later(timeout_s, self._look_at, sent, timeout_s)
            try:
                async with sent.scope:
                    answer = await request()
            except TimeoutError:
                if not sent.scope.expired():
                    raise
                if sent.fails:
                    self._note_failure(sent)
                    raise
            except asyncio.CancelledError:
                if loop.time() >= give_up_at:
                    self._note_failure(sent)
                raise
            else:
                self._count(sent)
                return answer
            finally:
                timer.cancel()
                self.under_way.remove(sent)
                self._leave()

    def _begin(self, share_s: float) -> Sent:
        self._begun += 1
        scope = asyncio.timeout(None)
        began = asyncio.get_running_loop().time()
        sent = Sent(self._begun, scope, share_s, self._cuts, self._answered, began)
        self.under_way.append(sent)
        self._most = max(self._most, len(self.under_way))
        return sent

    def _look_at(self, sent: Sent, timeout_s: float) -> None:
        if sent in self.under_way:
            self.note_late(sent)
            asyncio.get_running_loop().call_later(timeout_s, self._look_at, sent, timeout_s)

    def note_late(self, sent: Sent) -> None:
        """Stops what has to make way for a request that is late, or the request itself."""
        others = [each for each in self.under_way if each is not sent]
        half = max(1, len(self.under_way) // 2)
        kept = 1 if self._answered == sent.answered else half
        if sent.number < self._newest_answered:  # the server has left it out
            self._cut([sent], half)
        elif not others:
            self._note_alone(sent)
        elif sent.cuts == self._cuts:  # none was stopped for one that began at the same time
            self._cut(others[kept - 1 :], kept)
        sent.cuts = self._cuts

    def _note_alone(self, sent: Sent) -> None:
        now = asyncio.get_running_loop().time()
        if self._has_waiting and now - sent.began >= sent.share_s:
            sent.fails = True
            self._stop(sent)

    def _note_failure(self, sent: Sent) -> None:
        """If two in turn got no answer, and no other request did meanwhile, all that wait fail."""
        if self._answered != sent.answered:
            return
        self._silences += 1
        if self._silences == _ENOUGH:
            self._silences = 0
            for *_, place in self._waiting:
                if not place.done():
                    place.set_exception(TimeoutError())
            self._waiting.clear()

    def _cut(self, stopped: list[Sent], limit: int) -> None:
        self._limit = limit
        self._answers = 0
        self._cuts += 1
        for each in stopped:
            self._stop(each)

    def _stop(self, sent: Sent) -> None:
        if not sent.scope.expired():
            sent.scope.reschedule(asyncio.get_running_loop().time())

    @property
    def _has_waiting(self) -> bool:
        return any(not place.done() for *_, place in self._waiting)

    async def _enter(self, give_up_at: float, order: int) -> None:
        if not (self._is_full or self._has_waiting):
            self._entered += 1
            return
        place: Future[None] = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (give_up_at, order, place))
        try:
            await place
        except BaseException:
            if not place.cancelled() and place.exception() is None:  # the turn came just before
                self._leave()
            raise

    def _leave(self) -> None:
        self._entered -= 1
        while self._waiting and not self._is_full:
            *_, place = heappop(self._waiting)
            if not place.cancelled():
                self._entered += 1
                place.set_result(None)

    @property
    def _is_full(self) -> bool:
        return self._limit is not None and self._entered >= self._limit

    def _count(self, sent: Sent) -> None:
        self._answered += 1
        self._answers += 1
        self._silences = 0
        self._newest_answered = max(self._newest_answered, sent.number)
        if (
            self._limit is not None and self._answers >= 4 * self._limit
        ):  # four rounds, then one more at a time
            self._limit = None if self._limit >= self._most else self._limit + 1
            self._answers = 0


_THROTTLES: "WeakKeyDictionary[openai.AsyncOpenAI, Throttle]" = WeakKeyDictionary()


def throttle_of(client: "openai.AsyncOpenAI") -> Throttle:
    if client not in _THROTTLES:
        _THROTTLES[client] = Throttle()
    return _THROTTLES[client]
