import asyncio

import pytest
from prometheus_client import REGISTRY

from bot.domain.fair_queue import BACKGROUND, FairQueue
from bot.metrics import QUEUE
from tests.patience import ONLY_A_HANG_S


class Line:
    """People who wait for their turn, and the order in which they were called."""

    def __init__(self, limit: int) -> None:
        self.queue = FairQueue(limit, QUEUE)
        self.called: list[str] = []
        self._leave: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def join(self, *names: str) -> None:
        """Names are of the form channel, person and number: "aX1", or "a1" where there is one
        person.
        """
        for name in names:
            self._leave[name] = asyncio.Event()
            self._tasks[name] = asyncio.create_task(self._wait(name))
            await asyncio.sleep(0)

    async def leave(self, name: str) -> None:
        self._leave[name].set()
        await self._tasks[name]
        await asyncio.sleep(0)

    async def give_up(self, name: str) -> None:
        self._tasks[name].cancel()
        await asyncio.gather(self._tasks[name], return_exceptions=True)

    async def _wait(self, name: str) -> None:
        async with self.queue.slot(name[0], name[1:-1]):
            self.called.append(name)
            await self._leave[name].wait()


async def test_the_background_is_called_once_nobody_else_waits() -> None:
    queue = FairQueue(1)
    called = list[str]()

    async def wait(channel_id: str, user_id: str) -> None:
        async with queue.slot(channel_id, user_id):
            called.append(user_id)

    # A case that is still to be read waits as a channel without a name.
    lines = (BACKGROUND, "last"), (BACKGROUND, "the very last"), ("a", "first"), ("", "second")
    async with queue.slot("a", ""):
        tasks = [asyncio.create_task(wait(*each)) for each in lines]
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    assert called == ["first", "second", "last", "the very last"]


async def test_no_more_than_the_limit_go_at_once() -> None:
    line = Line(2)
    await line.join("a1", "b1", "a2", "c1")
    assert line.called == ["a1", "b1"]
    await line.leave("a1")
    assert line.called == ["a1", "b1", "a2"]


async def test_within_a_channel_people_take_turns() -> None:
    line = Line(1)
    await line.join("aX1", "aX2", "aX3", "aY1", "bZ1", "bZ2")
    for name in ("aX1", "aX2", "bZ1", "aY1"):
        await line.leave(name)
    assert line.called == ["aX1", "aX2", "bZ1", "aY1", "bZ2"]


async def test_who_gives_up_is_passed_over() -> None:
    line = Line(1)
    await line.join("a1", "a2", "b1")
    await line.give_up("a2")
    await line.leave("a1")
    assert line.called == ["a1", "b1"]


async def test_a_turn_that_is_given_to_somebody_who_gives_up_goes_on_to_the_next() -> None:
    queue = FairQueue(1)
    called = []

    async def wait(name: str) -> None:
        async with queue.slot("a", ""):
            called.append(name)

    async with queue.slot("a", ""):
        first, second = (asyncio.create_task(wait(name)) for name in ("first", "second"))
        await asyncio.sleep(0)
    first.cancel()  # called, but it has not woken up yet
    await asyncio.gather(first, second, return_exceptions=True)
    assert called == ["second"]


async def test_a_turn_is_given_back_after_an_error() -> None:
    queue = FairQueue(1)
    with pytest.raises(ValueError, match="no"):
        async with queue.slot("a", ""):
            raise ValueError("no")
    async with asyncio.timeout(ONLY_A_HANG_S), queue.slot("a", ""):
        pass


async def test_who_waits_is_counted_until_they_are_called_or_give_up() -> None:
    def queue_length() -> float:
        return REGISTRY.get_sample_value("slack_judge_queue_length") or 0.0

    before = queue_length()
    line = Line(1)
    await line.join("a1", "a2", "b1")
    assert queue_length() - before == 2
    await line.leave("a1")
    assert queue_length() - before == 1
    await line.give_up("b1")
    assert queue_length() == before
