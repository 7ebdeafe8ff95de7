"""What a request asks for beside the prompt: effort, tier, the server's own options, and the length
of an answer.
"""

import math
from typing import Any

import pytest

from judge import (
    Judge,
    RateLimitedError,
    RequestRejectedError,
    SetupError,
    UnscoredReason,
    Verdict,
)
from tests.judge_client import QUESTION, RESPONSE, Ask
from tests.model_server import Answer, Failure, ModelServer
from tests.tables import each

GOOD = "score: 4\nGood."


def thought(text: str | None, tokens: int = 1024, **fields: Any) -> Answer:
    usage = {
        "prompt_tokens": 400,
        "completion_tokens": tokens,
        "completion_tokens_details": {"reasoning_tokens": 900},
    }
    return Answer(text, usage=usage, **fields)


async def test_effort_is_passed_as_it_is_and_dropped_with_a_sentence_if_refused(ask: Ask) -> None:
    refused = Failure(
        400, message="Unsupported value: 'reasoning_effort' does not support 'max' with this model."
    )
    ask.server.script(lambda request: refused if "reasoning_effort" in request else GOOD)
    judge = ask.judge(samples=1, effort="max")
    assert [(await judge.score(QUESTION, RESPONSE)).score for _ in range(2)] == [4, 4]
    asked = [request.get("reasoning_effort") for request in ask.server.requests]
    assert asked == ["max", None, None]
    assert judge.shortfalls == ["Model 'm' refuses JUDGE_EFFORT=max and is asked without it."]


def limits(server: ModelServer) -> list[int | None]:
    return [request.get("max_tokens") for request in server.requests]


async def test_answer_that_thinking_used_up_is_asked_for_again_with_more_room(ask: Ask) -> None:
    ask.server.script(thought(None, finish_reason="length"), thought(GOOD))
    judge = ask.judge(samples=1)
    verdict = await judge.score(QUESTION, RESPONSE)
    assert (verdict.score, verdict.output_tokens, verdict.reasoning_tokens) == (4, 2048, 1800)
    await judge.score(QUESTION, RESPONSE)
    assert limits(ask.server) == [1024, 8192, 8192]


@each("text", [None, "<think>So the user"])
async def test_answer_without_a_word_after_its_thinking_is_unscored_with_the_advice(
    ask: Ask, text: str | None
) -> None:
    ask.server.requests.clear()
    answer = thought(text, finish_reason="length")
    verdict: Verdict = await ask(answer, samples=1, answer_tokens=2000)
    assert verdict.unscored.reason is UnscoredReason.THINKING
    assert "lower JUDGE_EFFORT, or raise JUDGE_ANSWER_TOKENS" in verdict.unscored.detail
    assert limits(ask.server) == [2000]


async def test_options_are_fields_of_the_body_and_come_before_ours(ask: Ask) -> None:
    options = (
        '{"chat_template_kwargs": {"enable_thinking": false}, "temperature": 0.3, "max_tokens": 50}'
    )
    await ask(GOOD, samples=1, options=options)
    [request] = ask.server.requests
    assert request["chat_template_kwargs"] == {"enable_thinking": False}
    assert (request["temperature"], request["max_tokens"], "max_completion_tokens" in request) == (
        0.3,
        50,
        False,
    )


@each(
    ("options", "words"),
    [
        ("[1]", "no JSON object"),
        ("[" * 100_000, "no JSON object"),
        ({"secret": math.inf}, "no JSON object"),
        *(({name: "secret"}, name) for name in ("messages", "input", "model", "n", "stream")),
    ],
)
def test_options_that_are_none_or_ours_are_refused_unquoted(options: Any, words: str) -> None:
    with pytest.raises(SetupError, match=words) as caught:
        Judge("m", options=options)
    assert "secret" not in str(caught.value)


FULL = Failure(
    429,
    code="resource_unavailable",
    message="Resource unavailable",
    headers={"retry-after-ms": "1"},
)


async def test_capacity_at_flex_is_waited_for(ask: Ask) -> None:
    flex = Answer(GOOD)
    assert (await ask(*[FULL] * 8, flex, samples=1, tier="flex")).score == 4
    assert {request["service_tier"] for request in ask.server.requests} == {"flex"}
    with pytest.raises(RateLimitedError, match="leave out the tier"):
        await ask(*[FULL] * 8, samples=1)


async def test_refused_tier_is_never_left_out(ask: Ask) -> None:
    refused = Failure(
        400, message="Invalid service_tier argument for this model", param="service_tier"
    )
    with pytest.raises(RequestRejectedError, match="JUDGE_TIER"):
        await ask(
            lambda request: refused if "service_tier" in request else GOOD, samples=1, tier="flex"
        )
    assert len(ask.server.requests) == 1


async def test_another_tier_than_asked_for_is_said(ask: Ask) -> None:
    ask.server.script(Answer(GOOD, service_tier="default"))
    judge = ask.judge(samples=1, tier="flex")
    await judge.score(QUESTION, RESPONSE)
    assert judge.shortfalls == [
        "Model 'm' was asked at tier 'flex' and answered at 'default', at its price."
    ]


async def test_servers_words_about_an_option_do_not_show_its_value(ask: Ask) -> None:
    refused = Failure(400, message="Unknown provider hidden-lab in provider.order")
    with pytest.raises(RequestRejectedError) as caught:
        await ask(refused, samples=1, options={"provider": {"order": ["hidden-lab"]}})
    assert "hidden-lab" not in str(caught.value)
    assert "JUDGE_OPTIONS" in str(caught.value)
