"""A server that answers one request at a time gets fewer at once, and all who ask get their answers."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from openai import AsyncOpenAI

from judge import DeadlineError, Judge
from judge.scoring.model.throttle import Throttle, throttle_of
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
    slot, app = OneSlot(0.1), web.Application()
    app.router.add_post("/v1/chat/completions", slot.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    async with AsyncOpenAI(base_url=address, api_key="test", http_client=http_client()) as client:
        yield slot, client
    await runner.cleanup()


async def test_all_who_ask_a_slow_server_at_once_get_their_verdict(one_slot: tuple[OneSlot, AsyncOpenAI]) -> None:
    slot, client = one_slot
    judge = Judge("m", samples=1, client=client, timeout_s=2)  # 20 answers at most
    verdicts = await asyncio.gather(*(judge.score("Why?", f"Because {number}.") for number in range(40)))
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
        return Stall() if is_first_round or "endless" in str(request["messages"]) else "score: 4\nGood."

    model_server.script(reply)
    judge = Judge("m", samples=1, client=client, timeout_s=0.3)
    asked = (judge.score("Why?", f"Because {word}.") for word in ("endless", "blue", "red"))
    failure, *verdicts = await asyncio.gather(*asked, return_exceptions=True)
    assert isinstance(failure, DeadlineError)
    assert [getattr(each, "score", each) for each in verdicts] == [4, 4]


async def test_two_texts_that_take_too_long_do_not_fail_others_where_the_server_has_answered() -> None:
    throttle = Throttle()
    async with throttle.turn(), throttle.turn() as turn:
        assert turn.is_worth_another_try()
    async with throttle.turn(1) as turn:
        turn.answered()

    async def wait() -> None:
        async with throttle.turn(4):
            pass

    for give_up_at in (2, 3):
        async with throttle.turn(give_up_at) as alone:
            waiting = asyncio.create_task(wait())
            await asyncio.sleep(0)
            assert not alone.is_worth_another_try()
        await waiting


async def test_the_verdict_that_must_be_there_first_goes_first() -> None:
    throttle, entered = Throttle(), list[float]()
    async with throttle.turn(), throttle.turn() as turn:
        assert turn.is_worth_another_try()

    async def enter(give_up_at: float) -> None:
        async with throttle.turn(give_up_at):
            entered.append(give_up_at)

    async with throttle.turn():
        waiting = [asyncio.create_task(enter(give_up_at)) for give_up_at in (3, 1, 2)]
        await asyncio.sleep(0)
    await asyncio.gather(*waiting)
    assert entered == [1, 2, 3]


async def test_a_cancelled_request_frees_its_place(client: AsyncOpenAI) -> None:
    throttle: Throttle = throttle_of(client)
    async with throttle.turn(), throttle.turn() as turn:
        assert turn.is_worth_another_try()  # one at a time from here on

    entered: list[int] = []

    async def enter(number: int) -> None:
        async with throttle.turn():
            entered.append(number)
            await asyncio.sleep(0)

    async with throttle.turn():
        first, second, third = (asyncio.create_task(enter(number)) for number in range(3))
        await asyncio.sleep(0)
        first.cancel()
    second.cancel()  # its turn has come, and it has not noticed
    async with asyncio.timeout(ONLY_A_HANG_S):
        await asyncio.gather(first, second, third, return_exceptions=True)
    assert entered == [2]
    async with asyncio.timeout(ONLY_A_HANG_S), throttle.turn():
        pass


async def test_the_limit_rises_again_after_answers() -> None:
    throttle = Throttle()
    async with throttle.turn() as first:
        async with throttle.turn(), throttle.turn(), throttle.turn() as turn:
            turn.answered()
            assert turn.is_worth_another_try()
        assert first.is_worth_another_try()  # halved once for all that began together
    for _ in range(4 * (2 + 3 + 4)):
        async with throttle.turn() as turn:
            turn.answered()
    turns = [throttle.turn() for _ in range(9)]
    async with asyncio.timeout(ONLY_A_HANG_S):
        for each in turns:
            await each.__aenter__()
    for each in turns:
        await each.__aexit__(None, None, None)


async def test_a_server_that_answered_none_gets_one_at_a_time() -> None:
    throttle = Throttle()
    async with throttle.turn(), throttle.turn(), throttle.turn(), throttle.turn() as turn:
        assert turn.is_worth_another_try()
    async with throttle.turn() as alone:
        waiting = asyncio.create_task(throttle.turn().__aenter__())
        await asyncio.sleep(0)
        assert not waiting.done()
        assert not alone.is_worth_another_try()
    await waiting
