"""The same tests for every server of `tests/server_profiles.py`."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from openai import AsyncAzureOpenAI, AsyncOpenAI

from judge import (
    BadResponseError,
    Judge,
    JudgeError,
    KeyRejectedError,
    ModelNotFoundError,
    QuotaExceededError,
    RateLimitedError,
    RequestRejectedError,
    UnavailableError,
    UnscoredReason,
    Verdict,
)
from tests.judge_client import QUESTION, RESPONSE, Ask, detoured, to_ask
from tests.model_server import Answer, Failure, ModelServer, Raw, Reply, Script
from tests.server_profiles import (
    AZURE,
    GOOD,
    KEY,
    LITELLM,
    LLAMA_CPP,
    MODEL,
    OLLAMA,
    OPENAI,
    PROFILES,
    VLLM,
    Profile,
)

LIMITS = ("max_completion_tokens", "max_tokens")
NOW = {"retry-after": "0"}
TOO_FAR_OFF = {"retry-after": "300"}  # beyond every deadline here, so no test waits


def every(field: str) -> list[Any]:
    """The answers that the profiles have for `field`."""
    return [
        pytest.param(reply, id=f"{profile}")
        for profile in PROFILES
        if (reply := getattr(profile, field))
    ]


def assert_safe(error: JudgeError) -> None:
    """Checks that the message is one line that ends in a full stop, without the key or the judged
    texts.
    """
    message = str(error)
    assert message.endswith(".")
    assert "\n" not in message
    assert not any(secret in message for secret in (KEY, QUESTION, RESPONSE))


Fail = Callable[..., Awaitable[JudgeError]]


@pytest.fixture
def ask(model_server: ModelServer, client: AsyncOpenAI) -> Ask:
    return to_ask(model_server, client, model=MODEL, timeout_s=30)


@pytest.fixture
def fail(ask: Ask) -> Fail:
    async def error_of(*replies: Script, **settings: Any) -> JudgeError:
        with pytest.raises(JudgeError) as caught:
            await ask(*replies, **settings)
        assert_safe(caught.value)
        return caught.value

    return error_of


def reason(verdict: Verdict) -> UnscoredReason:
    return verdict.unscored.reason


# Options that a server rejects


@pytest.mark.parametrize(
    ("profile", "option"),
    [
        pytest.param(profile, option, id=f"{profile}-{option}")
        for profile in PROFILES
        for option in profile.rejections
        if option not in LIMITS  # of which one is sent at a time
    ],
)
async def test_rejected_option_is_left_out_and_remembered(
    model_server: ModelServer, client: AsyncOpenAI, profile: Profile, option: str
) -> None:
    model_server.script(profile.script(option))
    ask = "distribution" if "logprobs" in option else "text"
    judge = Judge(MODEL, client=client, samples=1 if option == "temperature" else 3, ask=ask)
    first = await judge.score(QUESTION, RESPONSE)
    before = len(model_server.requests)
    second = await judge.score(QUESTION, RESPONSE)
    assert (first.score, second.score) == (4, 4)
    assert option in model_server.requests[0]
    assert not any(option in request for request in model_server.requests[before:])


@pytest.mark.parametrize(
    ("host", "profile", "names"),
    [
        ("name.openai.azure.test", OPENAI, [LIMITS[0]]),
        ("name.openai.azure.test", AZURE, LIMITS),
        ("api.openai.com", OPENAI, [LIMITS[0]]),
        ("myopenai.com", AZURE, [LIMITS[1]]),
        ("models.test", OPENAI, LIMITS[::-1]),
        ("models.test", OLLAMA, [LIMITS[1]]),
    ],
)
async def test_limit_has_the_name_that_the_server_takes(
    model_server: ModelServer, host: str, profile: Profile, names: Sequence[str]
) -> None:
    model_server.script(profile.script(*profile.rejections.keys() & set(LIMITS)))
    http_client = detoured(model_server, [])
    base_url = f"http://{host}/v1"
    async with AsyncOpenAI(api_key=KEY, base_url=base_url, http_client=http_client) as client:
        await Judge(MODEL, client=client, samples=1).score(QUESTION, RESPONSE)
    sent = [[name for name in LIMITS if name in request] for request in model_server.requests]
    assert sent == [[name] for name in names]


async def test_server_that_ignores_the_limit_gets_it_under_the_other_name_from_then_on(
    model_server: ModelServer, client: AsyncOpenAI
) -> None:
    usage = {"prompt_tokens": 400, "completion_tokens": 60}
    model_server.script(Answer(GOOD, usage=usage))
    judge = Judge(MODEL, client=client, samples=1, answer_tokens=50)
    for _ in range(3):
        assert (await judge.score(QUESTION, RESPONSE)).score == 4
    sent = [[name for name in LIMITS if name in request] for request in model_server.requests]
    assert sent == [[LIMITS[1]], [LIMITS[0]], [LIMITS[0]]]


async def test_limit_is_left_out_if_both_names_are_rejected(
    model_server: ModelServer, ask: Ask
) -> None:
    both = replace(OPENAI, rejections=OPENAI.rejections | AZURE.rejections)
    assert (await ask(both.script(*LIMITS), samples=1)).score == 4
    assert model_server.requests[-1].keys().isdisjoint(LIMITS)


async def test_server_that_rejects_every_option_is_asked_once_per_option(
    model_server: ModelServer, fail: Fail
) -> None:
    everything = "'temperature' 'logprobs' 'max_tokens' 'max_completion_tokens'"
    assert isinstance(
        await fail(Failure(400, message=everything), ask="distribution"), RequestRejectedError
    )
    # temperature, logprobs with top_logprobs, and the limit under two names are dropped one after
    # another.
    assert len(model_server.requests) == 5


# A context that is too short


def fits_without_limit(profile: Profile, otherwise: Reply) -> Any:
    def reply(request: dict[str, Any]) -> Reply:
        has_limit = not request.keys().isdisjoint(LIMITS)
        assert profile.limit_too_high is not None
        return profile.limit_too_high if has_limit else otherwise

    return reply


@pytest.mark.parametrize("profile", [each for each in PROFILES if each.limit_too_high], ids=str)
async def test_limit_that_does_not_fit_the_context_is_left_out_and_remembered(
    model_server: ModelServer, client: AsyncOpenAI, profile: Profile
) -> None:
    model_server.script(fits_without_limit(profile, GOOD))
    judge = Judge(MODEL, client=client, samples=1)
    assert (await judge.score(QUESTION, RESPONSE)).score == 4
    before = len(model_server.requests)
    assert (await judge.score(QUESTION, RESPONSE)).score == 4
    assert len(model_server.requests) == before + 1


async def test_prompt_that_is_too_long_does_not_remove_the_limit(
    model_server: ModelServer, client: AsyncOpenAI
) -> None:
    assert VLLM.too_long is not None
    model_server.script(fits_without_limit(VLLM, VLLM.too_long))
    judge = Judge(MODEL, client=client, samples=1)
    with pytest.raises(RequestRejectedError, match="too long"):
        await judge.score(QUESTION, RESPONSE)
    model_server.script(GOOD)
    await judge.score(QUESTION, RESPONSE)
    assert model_server.requests[-1]["max_tokens"] == 1024


# Failures


FAILURES: dict[
    str, tuple[type[JudgeError], str, int | None]
] = {  # the error, what it says, and the requests
    "too_long": (RequestRejectedError, "too long for model .* JUDGE_MODEL", None),
    "unknown_model": (ModelNotFoundError, f"{MODEL!r} .* JUDGE_MODEL", 1),
    "wrong_key": (KeyRejectedError, "OPENAI_API_KEY", 1),
    "out_of_quota": (QuotaExceededError, "OPENAI_API_KEY", 1),
    "rate_limited": (RateLimitedError, "JUDGE_CONCURRENCY", 5),
}


@pytest.mark.parametrize(
    ("reply", "kind", "said", "requests"),
    [
        pytest.param(*reply.values, *expected, id=f"{field}-{reply.id}")
        for field, expected in FAILURES.items()
        for reply in every(field)
    ],
)
async def test_failure_says_what_to_change_and_is_repeated_only_if_that_may_help(
    model_server: ModelServer,
    fail: Fail,
    reply: Failure | Raw,
    kind: type[JudgeError],
    said: str,
    requests: int | None,
) -> None:
    error = await fail(replace(reply, headers=NOW), samples=1)
    assert isinstance(error, kind)
    assert re.search(said, str(error))
    assert requests in (None, len(model_server.requests))


@pytest.mark.parametrize("reply", every("filtered"))
async def test_filtered_answer_is_unscored(
    model_server: ModelServer, ask: Ask, reply: Failure
) -> None:
    verdict = await ask(reply, samples=3)
    assert reason(verdict) is UnscoredReason.FILTERED
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("reply", [*every("rate_limited"), *every("overloaded")])
async def test_temporary_failure_is_retried(
    model_server: ModelServer, ask: Ask, reply: Failure | Raw
) -> None:
    assert (await ask(replace(reply, headers=NOW), GOOD, samples=1)).score == 4
    assert len(model_server.requests) == 2


async def test_model_that_is_being_loaded_is_waited_for(
    model_server: ModelServer, ask: Ask
) -> None:
    loading = replace(LLAMA_CPP.overloaded, headers=NOW)
    assert (await ask(*[loading] * 9, GOOD, samples=1)).score == 4
    assert len(model_server.requests) == 10


async def test_html_page_of_a_proxy_is_retried_and_reported(ask: Ask, fail: Fail) -> None:
    page = (
        "<html><h1>Bad Gateway</h1>You have been flagged: invalid model, temperature, "
        "insufficient credits</html>"
    )
    gateway = Raw(page, "text/html", 502, NOW)
    assert (await ask(gateway, GOOD, samples=1)).score == 4
    error = await fail(replace(gateway, headers=TOO_FAR_OFF), samples=1)
    assert isinstance(error, UnavailableError)
    assert "HTTP 502" in str(error)


# Answers


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
async def test_reasoning_is_never_read_as_the_answer(ask: Ask, field: str) -> None:
    assert (
        reason(await ask(Answer("", extra={field: "score: 5\nGood."}), samples=1))
        is UnscoredReason.EMPTY
    )
    assert (
        reason(
            await ask(
                Answer(None, finish_reason="length", extra={field: "score: 5\nGood."}), samples=1
            )
        )
        is UnscoredReason.THINKING
    )


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(None), UnscoredReason.EMPTY),
        (Answer(None, refusal="I cannot judge this."), UnscoredReason.REFUSED),
        (Answer("score: 4\nThe resp", finish_reason="length"), UnscoredReason.TRUNCATED),
        (Answer("The response", finish_reason="model_length"), UnscoredReason.TRUNCATED),
        (Answer("score: 4", finish_reason="content_filter"), UnscoredReason.FILTERED),
        (Answer("", refusal=""), UnscoredReason.EMPTY),
    ],
)
async def test_answer_without_a_score_is_unscored_and_not_an_error(
    ask: Ask, answer: Answer, expected: UnscoredReason
) -> None:
    assert reason(await ask(answer, samples=1)) is expected


@pytest.mark.parametrize(
    "reply",
    [
        Raw(""),
        Raw("[]"),
        Raw('{"choices": []}'),
        Raw(
            '{"error": "Unexpected endpoint or method. (POST /chat/completions)"}'
        ),  # LM Studio, lmstudio-bug-tracker#618
        Raw("<html>Welcome to nginx!</html>", "text/html"),
        Raw('{"choices": [' + "[" * 100_000),
        Raw('{"choices": ' + "9" * 10_000 + "}"),
        Raw("", status=204),
        Raw("", status=302),
        Raw("", status=300, headers={"location": "/login"}),
    ],
)
async def test_status_200_without_a_completion_names_the_address(fail: Fail, reply: Raw) -> None:
    error = await fail(reply, samples=1)
    assert isinstance(error, BadResponseError)
    assert "OPENAI_BASE_URL" in str(error)


# Clients


@pytest.mark.parametrize("deployment", [None, "judge-deployment"])
async def test_azure_request_goes_to_its_deployment(
    model_server: ModelServer, deployment: str | None
) -> None:
    model_server.script(GOOD)
    addresses: list[str] = []
    async with AsyncAzureOpenAI(
        api_key=KEY,
        api_version="2024-10-21",
        azure_endpoint="http://name.openai.azure.test",
        azure_deployment=deployment,
        http_client=detoured(model_server, addresses),
    ) as client:
        assert (await Judge(MODEL, client=client, samples=1).score(QUESTION, RESPONSE)).score == 4
    path = f"/openai/deployments/{deployment or MODEL}/chat/completions?api-version=2024-10-21"
    assert addresses == [f"http://name.openai.azure.test{path}"]


async def test_key_of_the_administrator_is_never_sent(model_server: ModelServer) -> None:
    model_server.script(GOOD)
    async with AsyncOpenAI(admin_api_key=KEY, api_key="", base_url=model_server.base_url) as client:
        with pytest.raises(TypeError, match="authentication"):
            await Judge(MODEL, client=client).score(QUESTION, RESPONSE)
    assert model_server.requests == []


async def test_default_client_uses_the_key_and_the_address_of_the_environment(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.base_url)
    model_server.script(LITELLM.script(*LITELLM.rejections))
    async with Judge(MODEL, ask="distribution") as judge:
        verdict = await judge.score(QUESTION, RESPONSE)
    assert (verdict.score, verdict.basis, verdict.weighted_score) == (4, "2 of 2", None)
    assert not LITELLM.rejections.keys() & model_server.requests[-1].keys()
    assert model_server.headers[0]["authorization"] == f"Bearer {KEY}"
