"""A server that answers one request at a time gets fewer at once, and all who ask get their
answers.
"""

import asyncio
import math
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from openai import AsyncOpenAI

from judge import Judge
from judge.scoring.model.throttle import Sent, Throttle
from tests.judge_client import http_client
from tests.patience import ONLY_A_HANG_S

ANSWER = {"choices": [{"message": {"content": "score: 4\nGood."}, "finish_reason": "stop"}]}


class OneSlot:
    """Answers one request after the other; a client that leaves ends the work on its request."""

    client: AsyncOpenAI

    def __init__(self) -> None:
        self.begun = self.given_up = 0
        self._slot = asyncio.Lock()

    async def answer(self, request: web.Request) -> web.Response:
        self.begun += 1
        try:
            async with self._slot:
                await asyncio.sleep(0.1)
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        return web.json_response(ANSWER)


@pytest.fixture
async def slot() -> AsyncIterator[OneSlot]:
    slot = OneSlot()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", slot.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    slot.client = AsyncOpenAI(base_url=address, api_key="test", http_client=http_client())
    async with slot.client:
        yield slot
    await runner.cleanup()


async def test_all_who_ask_a_slow_server_at_once_get_their_verdict(slot: OneSlot) -> None:
    judge = Judge("m", samples=1, client=slot.client, timeout_s=1)  # 10 answers at most
    asked = (judge.score("Why?", f"Because {number}.") for number in range(20))
    verdicts = await asyncio.gather(*asked)
    assert [verdict.score for verdict in verdicts] == [4] * 20
    assert slot.given_up  # the first 20 went at once
    assert slot.begun < 2 * 20 + slot.given_up


TIMEOUT_S = 1_000  # no test waits for it


class Asked:
    """A request over a throttle, which is answered, or late, when the test says so."""

    def __init__(self, throttle: Throttle, give_up_at: float = math.inf) -> None:
        self.times = 0
        self._throttle = throttle
        self._sent: Sent | None = None
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(throttle.run(self._send, TIMEOUT_S, give_up_at))

    async def _send(self) -> None:
        self.times += 1
        self._sent = self._throttle.under_way[-1]
        self._end = asyncio.get_running_loop().create_future()
        await self._end

    async def answer(self) -> None:
        await settled()
        self._end.set_result(None)
        await settled()

    async def is_late(self, *, has_had_its_share: bool = False) -> None:
        await settled()
        assert self._sent
        if has_had_its_share:
            self._sent.share_s = 0
        self._throttle.note_late(self._sent)
        await settled()

    async def leave(self) -> None:
        self.task.cancel()
        await settled()


async def settled() -> None:
    for _ in range(8):
        await asyncio.sleep(0)


async def one_at_a_time() -> Throttle:
    """A throttle after a late request, and two answers since."""
    throttle = Throttle()
    first, second = (Asked(throttle) for _ in range(2))
    await first.is_late()
    await first.answer()
    await second.answer()
    return throttle


async def test_where_none_is_answered_the_one_that_began_first_goes_on_alone() -> None:
    throttle = Throttle()
    first, *others = (Asked(throttle) for _ in range(6))
    await first.is_late()
    await first.is_late()
    assert (first.times, len(throttle.under_way)) == (1, 1)
    await first.answer()
    assert [each.times for each in others] == [2, 1, 1, 1, 1]
    for each in others:
        await each.answer()
    assert [each.times for each in others] == [2] * 5


async def test_where_some_are_answered_half_go_on_and_those_beyond_keep_their_place() -> None:
    throttle = Throttle()
    first, second, third, *others = (Asked(throttle, at) for at in range(7))
    await first.answer()
    last = Asked(throttle, 7)
    await second.is_late()  # of seven, three go on
    await third.is_late()  # they began together, so no more are stopped
    assert [each.times for each in (second, third, *others, last)] == [1] * 7
    await second.answer()
    assert [each.times for each in (*others, last)] == [1, 2, 1, 1, 1]
    for each in (third, *others, last):
        await each.answer()


async def test_a_request_that_the_server_has_left_out_is_sent_again() -> None:
    throttle = Throttle()
    lost, later = (Asked(throttle) for _ in range(2))
    await later.answer()
    await lost.is_late()
    assert lost.times == 2
    await lost.answer()


async def test_an_answer_alone_has_its_share_of_the_time_while_others_wait() -> None:
    throttle = await one_at_a_time()
    half_s = 10 * TIMEOUT_S
    give_up_at = asyncio.get_running_loop().time() + 2 * half_s
    alone = Asked(throttle, give_up_at)
    waiting = Asked(throttle, give_up_at + 1)
    await alone.is_late()
    assert (waiting.times, throttle.under_way[0].share_s) == (0, pytest.approx(half_s, rel=0.1))
    await alone.is_late(has_had_its_share=True)
    assert isinstance(alone.task.exception(), TimeoutError)
    assert waiting.times == 1
    await waiting.answer()


async def test_after_two_in_turn_without_an_answer_all_that_wait_fail() -> None:
    throttle = await one_at_a_time()
    first, second, third = (Asked(throttle, at) for at in range(3))
    for each in (first, second):
        await each.is_late(has_had_its_share=True)
        assert isinstance(each.task.exception(), TimeoutError)
    assert isinstance(third.task.exception(), TimeoutError)
    assert third.times == 0


async def test_the_verdict_that_must_be_there_first_goes_first() -> None:
    throttle = await one_at_a_time()
    first, *others = (Asked(throttle, give_up_at) for give_up_at in (0, 3, 1, 2))
    await first.answer()
    assert [each.times for each in others] == [0, 1, 0]
    await others[1].leave()
    assert [each.times for each in others] == [0, 1, 1]
    await others[2].leave()
    await others[0].leave()


async def test_a_cancelled_request_frees_its_place() -> None:
    throttle = await one_at_a_time()
    waiting: list[Asked] = []

    async def others() -> None:
        waiting.extend(Asked(throttle) for _ in range(3))
        await settled()
        await waiting[0].leave()

    await throttle.run(others, math.inf)
    await waiting[1].leave()  # its turn has come, and it has not noticed
    assert [each.times for each in waiting] == [0, 0, 1]
    await waiting[2].answer()
    async with asyncio.timeout(ONLY_A_HANG_S):
        await throttle.run(settled, math.inf)


async def test_the_limit_rises_again_after_answers() -> None:
    throttle = Throttle()
    first, *others = (Asked(throttle) for _ in range(5))
    await first.is_late()
    for each in (first, *others):
        await each.answer()
    for _ in range(4 * (1 + 2 + 3 + 4 + 5)):
        await throttle.run(settled, math.inf)
    more = [Asked(throttle) for _ in range(9)]
    await settled()
    assert [each.times for each in more] == [1] * 9
    for each in more:
        await each.leave()
