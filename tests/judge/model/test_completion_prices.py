from collections.abc import AsyncIterator

import pytest
from openai import AsyncOpenAI

from judge import Judge
from judge.scoring.model.completion import cost_of, has_price_list
from tests.judge_client import detoured
from tests.model_server import Answer, Failure, ModelServer
from tests.tables import each

OPENAI = "https://api.openai.com/v1/"
# genai-prices lists it at 0.15 USD for a million input tokens, 0.075 for cached ones, and 0.60 for
# output.
MODEL = "gpt-4o-mini"


@pytest.fixture
async def openai_client(model_server: ModelServer) -> AsyncIterator[AsyncOpenAI]:
    """A client whose address is OpenAI's, and whose requests reach the model server."""
    async with AsyncOpenAI(
        api_key="key", base_url=OPENAI, http_client=detoured(model_server, [])
    ) as client:
        yield client


SHORT_OF_500 = {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1510}


def completion(model: str = MODEL, **fields: object) -> dict[str, object]:
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 1_000_000, "total_tokens": 2_000_000}
    return {"model": model, "usage": usage} | fields


def test_tier_that_answered_decides_the_price() -> None:
    # genai-prices lists gpt-6-luna at 0.20 and 0.75 USD for a million tokens in and out, in
    # requests of this length.
    prices = [
        cost_of(OPENAI, completion("gpt-6-luna", service_tier=tier))
        for tier in (None, "default", "flex", "fast")
    ]
    assert prices == pytest.approx([0.95, 0.95, 0.475, 1.90])


def test_decisions_cost_what_they_read() -> None:
    usage = {"input_tokens": 100_000, "output_tokens": 100_000, "total_tokens": 200_000}
    decision = {"model": "gpt-6-luna", "usage": usage}
    assert cost_of(OPENAI, decision, is_decision=True) == pytest.approx(0.01)
    assert cost_of("https://api.fireworks.ai/inference/v1/", decision, is_decision=True) is None
    assert cost_of(OPENAI, decision | {"usage": {}}, is_decision=True) is None


def test_cached_tokens_have_their_own_price() -> None:
    usage = {
        "prompt_tokens": 1_000_000,
        "completion_tokens": 0,
        "total_tokens": 1_000_000,
        "prompt_tokens_details": {"cached_tokens": 1_000_000},
    }
    assert cost_of(OPENAI, completion(usage=usage)) == pytest.approx(0.075)


@each(
    ("base_url", "answer"),
    [
        (OPENAI, completion("a-model-that-nobody-lists")),
        ("https://models.example.com/v1/", completion()),
        (OPENAI, completion(service_tier="flex")),
        (OPENAI, completion(usage={"prompt_tokens": "many"})),
        ("https://api.openai.com.example.org/v1/", completion()),
        (OPENAI, completion("gpt-4o-mini-search-preview")),
        (OPENAI, completion(usage=SHORT_OF_500)),
    ],
)
def test_uncertain_price_is_none(base_url: str, answer: dict[str, object]) -> None:
    assert cost_of(base_url, answer) is None


@each("base_url", [*("http://127.0.0.1:8000/v1", "http://localhost/v1", "http://a.local/")])
def test_server_without_a_public_name_has_no_price_list(base_url: str) -> None:
    assert not has_price_list(base_url)


async def test_failed_member_costs_nothing(
    model_server: ModelServer, openai_client: AsyncOpenAI
) -> None:
    model_server.script(
        lambda request: Failure(404) if request["model"] == "gone" else "score: 4\nGood."
    )
    verdict = await Judge(model=[MODEL, "gpt-4o", "gone"], client=openai_client).score("a?", "b")
    assert verdict.basis == "2 of 3"
    # gpt-4o costs 2.50 and 10.00 USD.
    assert verdict.cost_usd == pytest.approx(
        (400 * (0.15 + 2.50) + 60 * (0.60 + 10.00)) / 1_000_000
    )


@each(
    ("served", "cost_usd"),
    # gpt-6-luna costs 0.10 and 0.50 USD, and half of that at flex.
    [
        (None, None),
        ("flex", (400 * 0.05 + 60 * 0.25) / 1e6),
    ],
)
async def test_asked_for_a_tier_the_price_is_that_of_the_tier_that_answered(
    model_server: ModelServer,
    openai_client: AsyncOpenAI,
    served: str | None,
    cost_usd: float | None,
) -> None:
    model_server.script(Answer("score: 4\nGood.", service_tier=served))
    judge = Judge("gpt-6-luna", client=openai_client, samples=1, tier="flex")
    verdict = await judge.score("a?", "b")
    assert verdict.cost_usd == (cost_usd and pytest.approx(cost_usd))
