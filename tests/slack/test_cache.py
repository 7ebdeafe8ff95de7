"""Answers of Slack that are kept: shared while they are awaited, good for a while, and never an
error.
"""

import asyncio

import pytest

from bot.domain.shared import AnswerCache
from pocket_slack import ManualClock


class Slow:
    """Answers with how often it was asked, once it may."""

    def __init__(self) -> None:
        self.calls = 0
        self.may_answer = asyncio.Event()
        self.error: Exception | None = None

    async def ask(self, _: str) -> int:
        self.calls += 1
        call = self.calls
        await self.may_answer.wait()
        if self.error:
            raise self.error
        return call


async def test_an_answer_is_there_for_the_next_when_nobody_waited_for_it() -> None:
    slow = Slow()
    cache = AnswerCache(slow.ask, 60, 10)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await cache.get("a")
    slow.may_answer.set()
    assert (await cache.get("a"), slow.calls) == (1, 1)


async def test_an_error_reaches_all_who_wait_and_is_not_kept() -> None:
    slow = Slow()
    slow.error = ValueError("no")
    cache = AnswerCache(slow.ask, 60, 10)
    waiting = [asyncio.create_task(cache.get("a")) for _ in range(3)]
    slow.may_answer.set()
    errors = await asyncio.gather(*waiting, return_exceptions=True)
    assert ([str(error) for error in errors], slow.calls) == (["no"] * 3, 1)
    slow.error = None
    assert await cache.get("a") == 2


async def test_what_is_forgotten_while_it_is_asked_for_is_asked_for_again() -> None:
    slow = Slow()
    cache = AnswerCache(slow.ask, 60, 10, ManualClock(0).now)
    first = asyncio.create_task(cache.get("a"))
    await asyncio.sleep(0)
    cache.forget("a")
    slow.may_answer.set()
    assert (await cache.get("a"), await first) == (2, 1)
    assert await cache.get("a") == 2
