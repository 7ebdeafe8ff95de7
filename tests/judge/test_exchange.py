"""A judge run with the answers that are known so far."""

import asyncio
import json

from judge import Judge, Verdict
from judge.exchange import Exchange
from judge.model import make_client


class Pair(Judge):
    """Two judges at once, of which the second comes to its request many turns of the event loop later."""

    later: Judge

    async def score(self, question: str, response: str) -> Verdict:
        async def score_later() -> Verdict:
            for _ in range(8):
                await asyncio.sleep(0)
            return await self.later.score(question, response)

        return (await asyncio.gather(super().score(question, response), score_later()))[0]


async def test_a_request_that_comes_late_is_noted_with_the_others() -> None:
    async with make_client("test", "http://127.0.0.1:9/v1") as client:
        pair = Pair("a", samples=1, client=client)
        pair.later = Judge("b", samples=1, client=client)
        await Exchange([]).score(pair, "Why?", "Because.")  # the client's first request takes a thread, and so its time
        exchange = Exchange([])
        # Without a pause every timer is due, as where the loop is always late.
        assert await exchange.score(pair, "Why?", "Because.", 0) is None
        assert sorted(json.loads(body)["model"] for _, body in exchange.missing) == ["a", "b"]
