"""The outcome of a failed request: always a subclass of `JudgeError` or a verdict."""

import json
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge import (
    JudgeError,
    KeyRejectedError,
    ModelNotFoundError,
    QuotaExceededError,
    RateLimitedError,
    RequestRejectedError,
    SetupError,
    UnavailableError,
    Verdict,
)
from judge.scoring.model.client import make_client
from judge.scoring.model.completion import Token, to_completion
from judge.scoring.model.failures import (
    hidden_error,
    is_worth_retrying,
    rejected_option,
    retry_after_s,
    server_name,
    to_judge_error,
)
from tests.judge_client import QUESTION, RESPONSE, Ask, status_error
from tests.model_server import Raw
from tests.tables import each

KEY = "sk-very-secret"


@each(
    "base_url",
    [
        *("localhost:8000/v1", "http://:8000/v1", "http://user:hunter2@[localhost/v1"),
        *(f"http://{'a' * 64}.example/v1", "http://local host/v1"),
    ],
)
def test_invalid_address_is_a_set_up_error(base_url: str) -> None:
    with pytest.raises(SetupError, match="OPENAI_BASE_URL is not a URL") as caught:
        make_client(KEY, base_url)
    assert "hunter2" not in str(caught.value)


@each(
    "base_url",
    [
        *("http://[::1]:8000/v1", "https://models.example.com", "http://user:p@w@vllm_1:8000/v1"),
        "http://b\xfccher.example/v1",
    ],
)
def test_address_of_any_server_is_accepted(base_url: str) -> None:
    assert make_client(None, base_url).base_url.host


@each("key", ["sk-\xfc", "sk-1\n", "sk 1"])
def test_invalid_key_is_a_set_up_error(key: str) -> None:
    with pytest.raises(SetupError, match="OPENAI_API_KEY") as caught:
        make_client(key, None)
    assert key not in str(caught.value)


# Any JSON

NAMES = [
    *("choices", "message", "content", "refusal", "finish_reason", "logprobs", "token"),
    *("top_logprobs", "logprob", "usage", "prompt_tokens", "completion_tokens", "error", "code"),
    *("param", "type", "detail", "loc", "msg", "text", "model", "object"),
]
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["stop", "length", "score: 4\nGood.", "content_filter", "\ud800", "text"])
    | st.sampled_from([KEY, QUESTION, RESPONSE]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=12,
)


def completion_like(value: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A chat completion in which each field can hold any value."""

    def object_of(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.fixed_dictionaries({}, optional=fields) | value

    likely = st.lists(object_of(token=value, logprob=value), max_size=2)
    tokens = st.lists(object_of(token=value, top_logprobs=likely | value))
    message = object_of(content=value, refusal=value, reasoning_content=value)
    logprobs = object_of(content=tokens | value)
    choice = object_of(message=message, finish_reason=value, logprobs=logprobs, error=value)
    usage = object_of(prompt_tokens=value, completion_tokens=value)
    choices = st.lists(choice, max_size=3)
    return object_of(choices=choices | value, usage=usage, error=value, object=value, code=value)


statuses = st.sampled_from(
    [200, 200, 200, 201, 299, 304, 400, 401, 402, 403, 404, 413, 418, 422, 429, 451, 500, 503, 599]
)


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    status=statuses,
    body=json_values | completion_like(json_values) | st.lists(json_values, max_size=2),
)
async def test_any_json_gives_a_verdict_or_a_judge_error(ask: Ask, status: int, body: Any) -> None:
    # The requested wait exceeds the deadline, so no example waits.
    ask.server.script(Raw(json.dumps(body), status=status, headers={"retry-after": "300"}))
    outcome: Verdict | JudgeError
    try:
        outcome = await ask.judge(samples=2, ask="distribution", timeout_s=60).score(
            QUESTION, RESPONSE
        )
    except JudgeError as exc:
        outcome = exc
    if isinstance(outcome, Verdict):
        json.dumps(outcome.to_dict(), allow_nan=False, ensure_ascii=False).encode()
        return
    assert type(outcome) is not JudgeError
    assert any(setting in str(outcome) for setting in ("OPENAI_", "JUDGE_"))
    assert not any(secret in str(outcome) for secret in (KEY, QUESTION, RESPONSE, "\n"))


@each("count", [True, -1, 2**31, "5"])
def test_invalid_token_count_is_unknown(count: Any) -> None:
    completion = to_completion(
        {"choices": [{}], "usage": {"prompt_tokens": count, "completion_tokens": 5}}
    )
    assert (completion.input_tokens, completion.output_tokens) == (None, 5)


PARTS = [
    {"type": "reasoning", "text": "score: 1"},
    "score: 2",
    {"type": "text", "text": "score: 4"},
]


@each(("content", "text"), [("score: 4 \ud83d", "score: 4 ?"), (PARTS, "score: 4")])
def test_content_is_read_as_text_that_can_be_stored(content: Any, text: str) -> None:
    completion = to_completion({"choices": [{"message": {"content": content}}]})
    assert completion.choices[0].text == text


@each("logprob", [float("nan"), float("-inf"), float("inf"), "-1"])
def test_invalid_log_probability_is_left_out(logprob: Any) -> None:
    candidates = [{"token": "4", "logprob": -0.5}, {"token": "5", "logprob": logprob}]
    content = [{"token": "4", "top_logprobs": candidates}]
    completion = to_completion({"choices": [{"logprobs": {"content": content}}]})
    assert completion.choices[0].tokens == (Token("4", {"4": -0.5}),)


# Single functions

TEMPORARY = (408, 409, 425, 429, 500, 502, 503, 504, 529)


@each(
    ("headers", "wait_s"),
    [
        ({"retry-after": "2"}, 2),
        ({"retry-after": "2", "retry-after-ms": "1500"}, 1.5),
        *(({"retry-after": each}, None) for each in ("soon", "1" * 5000)),
    ],
)
def test_retry_after_is_read_from_numbers(headers: dict[str, str], wait_s: float | None) -> None:
    assert retry_after_s(status_error(429, headers=headers)) == wait_s


@each(
    ("text", "options", "expected"),
    [
        ("'temperature' is not supported", ["temperature", "n"], "temperature"),
        ("set my_temperature", ["temperature"], None),
        ("n must be 1", ["n"], "n"),
        ("Reasoning model does not support n > 1, logprobs", ["n"], "n"),
        ("an answer, and no n-gram, is n/a\nin a new line", ["n"], None),
        ("Use 'max_tokens' instead", ["max_completion_tokens"], "max_completion_tokens"),
        ("max_tokens is too large", ["temperature"], None),
        ("n", ["n"], "n"),  # a `param` or a `loc` by itself
    ],
)
def test_rejected_option_is_found_by_name(
    text: str, options: list[str], expected: str | None
) -> None:
    assert rejected_option(status_error(400, {"error": {"message": text}}), options) == expected


@each(
    ("status", "words", "child"),
    [
        # LiteLLM: https://github.com/BerriAI/litellm/issues/14144
        (400, "Budget has been exceeded! Current cost: 14, Max budget: 100", QuotaExceededError),
        (429, "No deployments available - crossed budget: model_name: m", QuotaExceededError),
        (400, "ExceededBudget: End User=x over budget", QuotaExceededError),
        (429, "billing_not_active", QuotaExceededError),
        (403, "insufficient_user_quota", QuotaExceededError),
        (400, "Insufficient Balance", QuotaExceededError),
        (400, "Model Not Exist", ModelNotFoundError),
        (403, "Project `p` does not have access to model `m`", ModelNotFoundError),
        (401, "key_model_access_denied", ModelNotFoundError),
        (400, "invalid_api_key", KeyRejectedError),
        (500, "the request exceeds the available context size", RequestRejectedError),
        (429, "Rate limit reached for model `m`: Limit 30000, Used 29000", RateLimitedError),
        (503, "model `m` not found on any worker yet", UnavailableError),
    ],
)
def test_wording_decides_the_error_if_the_status_does_not(
    status: int, words: str, child: type[JudgeError]
) -> None:
    error = to_judge_error(status_error(status, {"error": words}), "m", "http://judge.test/v1", "")
    assert type(error) is child


def test_request_that_fastapi_echoes_is_not_read() -> None:
    repeated = {"msg": "no", "input": "temperature context length flagged"}
    error = status_error(422, {"detail": [repeated]})
    assert rejected_option(error, ["temperature"]) is None
    assert "rejects the request" in str(to_judge_error(error, "m", "http://judge.test/v1", ""))


@each("status", [*TEMPORARY, 300, 400, 401, 402, 403, 404, 405, 413, 422])
def test_temporary_failure_is_worth_a_retry(status: int) -> None:
    assert is_worth_retrying(status_error(status)) is (status in TEMPORARY)


@each(
    ("body", "status"),
    [
        ({"error": {"code": 429, "message": "slow down"}}, 429),
        ({"choices": [{"error": {"code": "502"}}]}, 502),
        # https://github.com/vllm-project/vllm/issues/16831
        ({"object": "error", "message": "no", "code": 400}, 400),
        ({"error": {"code": 200}}, None),
        ({"choices": [{"error": None}], "error": None}, None),
    ],
)
def test_error_with_status_200_is_found_by_its_code(body: Any, status: int | None) -> None:
    error = hidden_error(
        httpx2.Response(200, request=httpx2.Request("POST", "http://judge.test")), body
    )
    assert (error.status_code if error else None) == status


@each(
    ("base_url", "name"),
    [
        ("https://user:hunter2@models.example.com/v1?key=hunter2", "models.example.com"),
        ("http://10.0.0.1:8000/v1", "10.0.0.1:8000"),
    ],
)
def test_server_is_named_without_password(base_url: str, name: str) -> None:
    assert server_name(base_url) == name
    assert "hunter2" not in str(to_judge_error(status_error(500), "m", base_url, ""))
