"""The judge with a real model on a real server: the wire and the honesty, for SmolLM2 is far too
small to judge.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.request import urlopen

import pytest

from judge import DeadlineError, Judge, Rating, RequestRejectedError, Rubric, SetupError, Unscored
from judge.scoring.model.client import make_client
from tests.model.engine import CONTEXT_TOKENS
from tests.patience import ONLY_A_HANG_S

SHORT = Rubric(
    "short",
    "Is the response right? The score is between 0 and 5.\n<question>{prompt}</question>\n"
    "<response>{response}</response>\nBegin with one line:\nscore: <points>\n",
)
QUESTION = "What is the capital of France?"
RESPONSE = "It is Paris."


@asynccontextmanager
async def asking(
    address: str, rubric: Rubric = SHORT, timeout_s: float = ONLY_A_HANG_S, **options: Any
) -> AsyncIterator[Judge]:
    async with make_client(None, f"{address}/v1") as client:
        yield Judge("smollm2", rubric, 1, client, timeout_s, **options)


async def test_an_answer_is_a_score_on_the_scale_or_unscored_with_its_reason(address: str) -> None:
    async with asking(address) as judge:
        verdict = await judge.score(QUESTION, RESPONSE)
    (rating,) = verdict.ratings
    if isinstance(rating, Rating):
        assert verdict.score in range(6)
    else:
        assert isinstance(rating, Unscored)
        assert verdict.unscored
    assert rating.raw
    assert (verdict.input_tokens or 0) > 50
    assert verdict.output_tokens


async def test_a_distribution_takes_a_few_tokens_or_is_asked_as_text(address: str) -> None:
    async with asking(address, ask="distribution") as judge:
        verdict = await judge.score(QUESTION, RESPONSE)
    (rating,) = verdict.ratings
    if verdict.probabilities:
        assert sum(verdict.probabilities.values()) == pytest.approx(1)
        assert (verdict.output_tokens or 0) <= 16
        assert 0.8 <= (rating.coverage or 0) <= 1
    else:
        assert (rating.coverage or 0) < 0.8
    assert judge.shortfalls == []


async def test_a_server_without_decisions_says_so(address: str) -> None:
    async with asking(address, ask="decision") as judge:
        with pytest.raises(SetupError, match="has no decisions"):
            await judge.score(QUESTION, RESPONSE)


async def test_a_prompt_longer_than_the_context_is_refused_in_a_sentence(address: str) -> None:
    async with asking(address) as judge:
        with pytest.raises(RequestRejectedError, match="context"):
            await judge.score(QUESTION, "word " * 2 * CONTEXT_TOKENS)


async def test_six_who_ask_a_server_with_one_slot_all_get_a_verdict(address: str) -> None:
    async with asking(address) as judge:
        verdicts = await asyncio.gather(
            *(judge.score(QUESTION, f"It is city {number}.") for number in range(6))
        )
    assert all(verdict.output_tokens for verdict in verdicts)


async def test_a_time_out_ends_the_servers_work(address: str) -> None:
    endless = Rubric(
        "endless", f"{SHORT.template}Then write down every number between 1 and 5000.\n"
    )
    async with asking(address, endless, timeout_s=0.5) as judge:
        with pytest.raises(DeadlineError):
            await judge.score(QUESTION, RESPONSE)

    def is_working() -> bool:
        with urlopen(f"{address}/slots") as answer:  # noqa: S310 - our own server
            return any(slot["is_processing"] for slot in json.load(answer))

    async with asyncio.timeout(ONLY_A_HANG_S):
        while await asyncio.to_thread(is_working):  # noqa: ASYNC110 - another process works
            await asyncio.sleep(0.1)
