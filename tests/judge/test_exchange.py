"""Running a judge with the answers that are known so far."""

import asyncio
import json
from collections.abc import Sequence

from judge import Judge, Turn, Verdict
from judge.rows.exchange import Exchange
from judge.scoring.model import make_client


class Pair(Judge):
    """Two judges at once; the second sends its request several turns of the event loop later."""

    later: Judge

    async def score(self, question: str, response: str, *, conversation: Sequence[Turn] = ()) -> Verdict:
        async def score_later() -> Verdict:
            for _ in range(8):
                await asyncio.sleep(0)
            return await self.later.score(question, response)

        return (await asyncio.gather(super().score(question, response), score_later()))[0]


async def test_a_late_request_is_recorded_with_the_others() -> None:
    async with make_client("test", "http://127.0.0.1:9/v1") as client:
        pair = Pair("a", samples=1, client=client)
        pair.later = Judge("b", samples=1, client=client)
        await Exchange([]).score(pair, "Why?", "Because.")  # a client's first request waits for a thread
        exchange = Exchange([])
        # With a pause of 0 every timer is due at once, as in an event loop that is always late.
        assert await exchange.score(pair, "Why?", "Because.", 0) is None
        assert sorted(json.loads(body)["model"] for _, body in exchange.missing) == ["a", "b"]


async def test_a_request_in_a_batch_does_not_depend_on_what_other_answers_taught() -> None:
    async with make_client("test", "http://127.0.0.1:9/v1") as client:
        exchange = Exchange([])
        await exchange.score(Judge("a", samples=1, client=client), "Why?", "Because.", 0)
    [(_, body)] = exchange.missing
    assert json.loads(body)["max_completion_tokens"] == 8192
