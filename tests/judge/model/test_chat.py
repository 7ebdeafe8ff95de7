"""The same tests for every server of `tests/server_profiles.py`."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from openai import APIStatusError, AsyncAzureOpenAI, AsyncOpenAI

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
from judge.scoring.model.failures import (
    is_filtered,
    is_worth_retrying,
    rejected_option,
    to_judge_error,
)
from tests.judge_client import QUESTION, RESPONSE, Ask, detoured, status_error
from tests.model_server import Answer, Failure, ModelServer, Raw, Reply, Script, to_error
from tests.server_profiles import (
    AZURE,
    GOOD,
    KEY,
    LLAMA_CPP,
    MODEL,
    OPENAI,
    OPENROUTER,
    PROFILES,
    VLLM,
    Profile,
)
from tests.tables import each

LIMITS = ("max_completion_tokens", "max_tokens")
NOW = {"retry-after": "0"}
TOO_FAR_OFF = {"retry-after": "300"}  # beyond every deadline here, so no test waits


def every(field: str) -> list[Failure]:
    """The errors that the profiles have for `field`."""
    replies = [getattr(profile, field) for profile in PROFILES]
    return [reply for reply in replies if isinstance(reply, Failure)]


def error_of(reply: Failure) -> APIStatusError:
    return status_error(reply.status, to_error(reply))


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
    return Ask(model_server, client, {"model": MODEL, "timeout_s": 30})


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


@each(
    ("reply", "option"),
    [
        *((reply, name) for profile in PROFILES for name, reply in profile.rejections.items()),
        *((reply, "max_tokens") for reply in every("limit_too_high")),
    ],
)
def test_each_servers_rejection_names_its_option(reply: Failure, option: str) -> None:
    # Of the limit's two names one is sent at a time.
    options = [option] if option in LIMITS else ["max_tokens", "seed", option]
    assert rejected_option(error_of(reply), options) == option


async def test_rejected_option_is_left_out_and_remembered(ask: Ask) -> None:
    ask.server.script(OPENAI.script("temperature"))
    judge = ask.judge(samples=1)
    assert [(await judge.score(QUESTION, RESPONSE)).score for _ in range(2)] == [4, 4]
    assert ["temperature" in request for request in ask.server.requests] == [True, False, False]


@each(
    ("host", "profile", "names"),
    [
        ("name.openai.azure.test", AZURE, LIMITS),
        ("api.openai.com", AZURE, LIMITS),
        ("myopenai.com", OPENAI, LIMITS[::-1]),
    ],
)
async def test_limit_has_the_name_that_the_server_takes(
    model_server: ModelServer, host: str, profile: Profile, names: Sequence[str]
) -> None:
    model_server.requests.clear()
    model_server.script(profile.script(*profile.rejections.keys() & set(LIMITS)))
    http_client = detoured(model_server, [])
    base_url = f"http://{host}/v1"
    async with AsyncOpenAI(api_key=KEY, base_url=base_url, http_client=http_client) as client:
        await Judge(MODEL, client=client, samples=1).score(QUESTION, RESPONSE)
    sent = [[name for name in LIMITS if name in request] for request in model_server.requests]
    assert sent == [[name] for name in names]


async def test_server_that_ignores_the_limit_gets_it_under_the_other_name(ask: Ask) -> None:
    usage = {"prompt_tokens": 400, "completion_tokens": 60}
    ask.server.script(Answer(GOOD, usage=usage))
    judge = ask.judge(samples=1, answer_tokens=50)
    for _ in range(3):
        assert (await judge.score(QUESTION, RESPONSE)).score == 4
    sent = [[name for name in LIMITS if name in request] for request in ask.server.requests]
    assert sent == [[LIMITS[1]], [LIMITS[0]], [LIMITS[0]]]


# A context that is too short


def fits_without_limit(otherwise: Reply) -> Script:
    def reply(request: dict[str, Any]) -> Reply:
        assert VLLM.limit_too_high is not None
        return otherwise if request.keys().isdisjoint(LIMITS) else VLLM.limit_too_high

    return reply


async def test_limit_that_does_not_fit_the_context_is_left_out_and_remembered(ask: Ask) -> None:
    ask.server.script(fits_without_limit(GOOD))
    judge = ask.judge(samples=1)
    assert (await judge.score(QUESTION, RESPONSE)).score == 4
    before = len(ask.server.requests)
    assert (await judge.score(QUESTION, RESPONSE)).score == 4
    assert len(ask.server.requests) == before + 1


async def test_prompt_that_is_too_long_does_not_remove_the_limit(ask: Ask) -> None:
    assert VLLM.too_long is not None
    ask.server.script(fits_without_limit(VLLM.too_long))
    judge = ask.judge(samples=1)
    with pytest.raises(RequestRejectedError, match="too long"):
        await judge.score(QUESTION, RESPONSE)
    ask.server.script(GOOD)
    await judge.score(QUESTION, RESPONSE)
    assert ask.server.requests[-1]["max_tokens"] == 1024


# Failures


FAILURES: dict[str, tuple[type[JudgeError], str, bool]] = {  # and whether it is worth a retry
    "too_long": (RequestRejectedError, "too long for model .* JUDGE_MODEL", False),
    "unknown_model": (ModelNotFoundError, f"{MODEL!r} .* JUDGE_MODEL", False),
    "wrong_key": (KeyRejectedError, "OPENAI_API_KEY", False),
    "out_of_quota": (QuotaExceededError, "OPENAI_API_KEY", False),
    "rate_limited": (RateLimitedError, "JUDGE_CONCURRENCY", True),
}


@each(
    ("reply", "kind", "said", "is_temporary"),
    [(reply, *expected) for field, expected in FAILURES.items() for reply in every(field)],
)
def test_each_servers_failure_says_what_to_change(
    reply: Failure, kind: type[JudgeError], said: str, is_temporary: bool
) -> None:
    raised = status_error(reply.status, to_error(reply), {"authorization": f"Bearer {KEY}"})
    error = to_judge_error(raised, MODEL, "http://judge.test/v1", f"{QUESTION}\n{RESPONSE}")
    assert isinstance(error, kind)
    assert re.search(said, str(error))
    assert_safe(error)
    assert is_worth_retrying(raised) is is_temporary


@each("reply", every("filtered"))
def test_each_servers_filter_is_recognised(reply: Failure) -> None:
    assert is_filtered(error_of(reply))


async def test_filtered_answer_is_unscored_and_not_asked_for_again(ask: Ask) -> None:
    assert AZURE.filtered is not None
    verdict = await ask(AZURE.filtered, samples=3)
    assert reason(verdict) is UnscoredReason.FILTERED
    assert len(ask.server.requests) == 1


async def test_temporary_failure_is_retried_up_to_five_times(ask: Ask, fail: Fail) -> None:
    assert (await ask(replace(OPENROUTER.overloaded, headers=NOW), GOOD, samples=1)).score == 4
    ask.server.requests.clear()
    assert isinstance(await fail(OPENAI.rate_limited, samples=1), RateLimitedError)
    assert len(ask.server.requests) == 5


async def test_model_that_is_being_loaded_is_waited_for(ask: Ask) -> None:
    loading = replace(LLAMA_CPP.overloaded, headers=NOW)
    assert (await ask(*[loading] * 9, GOOD, samples=1)).score == 4
    assert len(ask.server.requests) == 10


async def test_html_page_of_a_proxy_is_retried_whatever_words_it_has(ask: Ask, fail: Fail) -> None:
    page = "<html>Bad Gateway: invalid model, temperature, insufficient credits</html>"
    assert (await ask(Raw(page, "text/html", 502, NOW), GOOD, samples=1)).score == 4
    error = await fail(Raw(page, "text/html", 502, TOO_FAR_OFF), samples=1)
    assert isinstance(error, UnavailableError)


# Answers


@each(
    ("answer", "expected"),
    [
        (Answer(None), UnscoredReason.EMPTY),
        (Answer(None, refusal="I cannot judge this."), UnscoredReason.REFUSED),
        (Answer("score: 4\nThe resp", finish_reason="length"), UnscoredReason.TRUNCATED),
        (Answer("The response", finish_reason="model_length"), UnscoredReason.TRUNCATED),
        (Answer("score: 4", finish_reason="content_filter"), UnscoredReason.FILTERED),
        # Reasoning is never read as the answer.
        (Answer("", extra={"reasoning": "score: 5\nGood."}), UnscoredReason.EMPTY),
        *(
            (Answer("", extra={field: "Hm."}, finish_reason="length"), UnscoredReason.THINKING)
            for field in ("reasoning_content", "reasoning", "thinking")
        ),
    ],
)
async def test_answer_without_a_score_is_unscored_and_not_an_error(
    ask: Ask, answer: Answer, expected: UnscoredReason
) -> None:
    assert reason(await ask(answer, samples=1)) is expected


@each(
    "reply",
    [
        Raw(""),
        Raw('{"choices": []}'),
        # LM Studio, lmstudio-bug-tracker#618
        Raw('{"error": "Unexpected endpoint or method. (POST /chat/completions)"}'),
        Raw("<html>Welcome to nginx!</html>", "text/html"),
        Raw('{"choices": [' + "[" * 100_000),
        Raw("", status=300, headers={"location": "/login"}),
    ],
)
async def test_status_200_without_a_completion_names_the_address(fail: Fail, reply: Raw) -> None:
    error = await fail(reply, samples=1)
    assert isinstance(error, BadResponseError)
    assert "OPENAI_BASE_URL" in str(error)


# Clients


@each("deployment", [None, "judge-deployment"])
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
