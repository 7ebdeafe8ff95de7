"""A server that answers one request at a time gets fewer at once, and all who ask get their
answers.
"""

import asyncio
import math
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from openai import AsyncOpenAI

from judge import DeadlineError, Judge
from judge.scoring.model.throttle import Throttle
from tests.judge_client import http_client
from tests.model_server import ModelServer, Reply, Stall
from tests.patience import ONLY_A_HANG_S

ANSWER = {"choices": [{"message": {"content": "score: 4\nGood."}, "finish_reason": "stop"}]}


class OneSlot:
    """Answers one request after the other; a client that leaves ends the work on its request."""

    def __init__(self, takes_s: float) -> None:
        self.begun = self.given_up = 0
        self._takes_s = takes_s
        self._slot = asyncio.Lock()

    async def answer(self, request: web.Request) -> web.Response:
        self.begun += 1
        try:
            async with self._slot:
                await asyncio.sleep(self._takes_s)
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        return web.json_response(ANSWER)


@pytest.fixture
async def one_slot() -> AsyncIterator[tuple[OneSlot, AsyncOpenAI]]:
    slot = OneSlot(0.1)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", slot.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    async with AsyncOpenAI(base_url=address, api_key="test", http_client=http_client()) as client:
        yield slot, client
    await runner.cleanup()


async def test_all_who_ask_a_slow_server_at_once_get_their_verdict(
    one_slot: tuple[OneSlot, AsyncOpenAI],
) -> None:
    slot, client = one_slot
    judge = Judge("m", samples=1, client=client, timeout_s=2)  # 20 answers at most
    verdicts = await asyncio.gather(
        *(judge.score("Why?", f"Because {number}.") for number in range(40))
    )
    assert [verdict.score for verdict in verdicts] == [4] * 40
    assert slot.given_up  # the first 40 went at once
    assert slot.begun < 2 * 40 + slot.given_up


async def test_a_lone_request_that_is_not_answered_in_time_is_not_repeated(
    model_server: ModelServer, client: AsyncOpenAI
) -> None:
    model_server.script(Stall())
    with pytest.raises(DeadlineError, match=r"within 0\.2 s"):
        await Judge("m", samples=1, client=client, timeout_s=0.2).score("Why?", "Because.")
    assert len(model_server.requests) == 1


async def test_all_who_ask_a_server_that_hangs_learn_it_from_two_of_them(
    model_server: ModelServer, client: AsyncOpenAI
) -> None:
    model_server.script(Stall())
    judge = Judge("m", samples=1, client=client, timeout_s=0.3)
    asked = (judge.score("Why?", f"Because {number}.") for number in range(6))
    failures = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(each) for each in failures] == [DeadlineError] * 6
    assert len(model_server.requests) == 6 + 2


async def test_a_text_that_takes_too_long_does_not_fail_the_others(
    model_server: ModelServer, client: AsyncOpenAI
) -> None:
    def reply(request: dict[str, Any]) -> Reply:
        is_first_round = len(model_server.requests) <= 3
        return (
            Stall()
            if is_first_round or "endless" in str(request["messages"])
            else "score: 4\nGood."
        )

    model_server.script(reply)
    judge = Judge("m", samples=1, client=client, timeout_s=0.3)
    asked = (judge.score("Why?", f"Because {word}.") for word in ("endless", "blue", "red"))
    failure, *verdicts = await asyncio.gather(*asked, return_exceptions=True)
    assert isinstance(failure, DeadlineError)
    assert [getattr(each, "score", each) for each in verdicts] == [4, 4]


class Sent:
    """A request over a throttle, which is answered, or times out, when the test says so."""

    def __init__(self, throttle: Throttle, give_up_at: float = math.inf) -> None:
        self.times = 0
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(throttle.run(self._send, math.inf, give_up_at))

    async def _send(self) -> None:
        self.times += 1
        self._end = asyncio.get_running_loop().create_future()
        await self._end

    async def answer(self) -> None:
        await settled()
        self._end.set_result(None)
        await settled()

    async def time_out(self) -> None:
        await settled()
        self._end.set_exception(TimeoutError())
        await settled()

    async def leave(self) -> None:
        self.task.cancel()
        await settled()


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def one_at_a_time() -> Throttle:
    """A throttle after a time-out without answers, and two answers since."""
    throttle = Throttle()
    first = Sent(throttle)
    second = Sent(throttle)
    await second.time_out()
    await first.answer()
    await second.answer()
    return throttle


async def test_two_texts_that_take_too_long_do_not_fail_others_where_the_server_has_answered() -> (
    None
):
    throttle = await one_at_a_time()
    for give_up_at in (2, 3):
        alone = Sent(throttle, give_up_at)
        waiting = Sent(throttle, 4)
        await alone.time_out()
        assert isinstance(alone.task.exception(), TimeoutError)
        assert waiting.times == 1
        await waiting.leave()


async def test_the_verdict_that_must_be_there_first_goes_first() -> None:
    throttle = await one_at_a_time()
    first, *others = (Sent(throttle, give_up_at) for give_up_at in (0, 3, 1, 2))
    await first.answer()
    assert [each.times for each in others] == [0, 1, 0]
    await others[1].leave()
    assert [each.times for each in others] == [0, 1, 1]
    await others[2].leave()
    await others[0].leave()


async def test_a_cancelled_request_frees_its_place() -> None:
    throttle = await one_at_a_time()
    waiting: list[Sent] = []

    async def others() -> None:
        waiting.extend(Sent(throttle) for _ in range(3))
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
    first, second, *others = (Sent(throttle) for _ in range(5))
    await others[0].answer()
    await first.time_out()
    await second.time_out()  # halved once for all that began together
    for each in (*others[1:], first, second):
        assert each.times == 1 + (each in (first, second))
        await each.answer()
    for _ in range(4 * (2 + 3 + 4 + 5) - 4):
        await throttle.run(settled, math.inf)
    more = [Sent(throttle) for _ in range(9)]
    await settled()
    assert [each.times for each in more] == [1] * 9
    for each in more:
        await each.leave()


async def test_a_server_that_answered_none_gets_one_at_a_time() -> None:
    throttle = Throttle()
    *others, alone = (Sent(throttle) for _ in range(4))
    await alone.time_out()
    for each in others:
        await each.leave()
    waiting = Sent(throttle)
    await settled()
    assert (alone.times, waiting.times) == (2, 0)
    await alone.time_out()
    assert isinstance(alone.task.exception(), TimeoutError)
    assert waiting.times == 1
    await waiting.leave()
