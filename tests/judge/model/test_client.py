"""Distrust of the server, over both transports: where it redirects to, how much it sends, how long
it takes.
"""

import gzip
import json
import re
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import openai
import pytest
from openai import AsyncOpenAI

from judge import (
    BadResponseError,
    DeadlineError,
    Judge,
    JudgeError,
    KeyRejectedError,
    Rating,
    UnavailableError,
)
from tests.judge_client import QUESTION, RESPONSE, trusted
from tests.model_server import Answer, Drip, Flood, ModelServer, Raw, Reply, Stall, Wire
from tests.tables import each

GOOD = json.dumps(
    {"choices": [{"message": {"content": "score: 4\nGood."}, "finish_reason": "stop"}]}
).encode()
MB = 1_000_000
ONE_TRANSPORT = pytest.mark.parametrize("client", ["aiohttp"], indirect=True)
TRANSPORTS = {"aiohttp": openai.DefaultAioHttpClient, "httpx2": openai.DefaultAsyncHttpxClient}


@pytest.fixture(params=TRANSPORTS)
async def client(
    request: pytest.FixtureRequest, model_server: ModelServer
) -> AsyncIterator[AsyncOpenAI]:
    """A caller's client, set to follow redirects."""
    http_client = TRANSPORTS[request.param](follow_redirects=True, verify=trusted())
    async with AsyncOpenAI(
        api_key="sk-secret", base_url=model_server.base_url, http_client=http_client
    ) as client:
        yield client


@pytest.fixture
async def elsewhere() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def failure(client: AsyncOpenAI | None, **settings: Any) -> JudgeError:
    async with Judge(
        **({"model": "m", "samples": 1, "client": client, "timeout_s": 30} | settings)
    ) as judge:
        with pytest.raises(JudgeError) as caught:
            await judge.score(QUESTION, RESPONSE)
    return caught.value


async def raw_of(client: AsyncOpenAI, **settings: Any) -> str:
    """The answer as the only rating keeps it."""
    [rating] = (
        await Judge(model="m", samples=1, client=client, **settings).score(QUESTION, RESPONSE)
    ).ratings
    return rating.raw


def http(body: bytes, head: str = "", status: str = "200 OK") -> Wire:
    return Wire(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{head}\r\n".encode() + body)


def padded(size: int) -> bytes:
    """A good answer of `size` bytes."""
    return GOOD + b" " * (size - len(GOOD))


# Redirects


@each("status", [302, 307])
async def test_redirect_is_reported_and_never_followed(
    model_server: ModelServer, elsewhere: ModelServer, client: AsyncOpenAI, status: int
) -> None:
    model_server.requests.clear()
    elsewhere.script("score: 5\nStolen.")
    host = elsewhere.base_url.removeprefix("http://").removesuffix("/v1")
    path = "/v1/chat/completions" if status > 303 else "/login"
    model_server.script(
        Raw(
            "",
            status=status,
            headers={"location": f"http://user:hunter2@{host}{path}?token=secret"},
        )
    )
    error = await failure(client)
    assert isinstance(error, BadResponseError)
    assert " redirects, and redirects are not followed" in str(error)
    assert "OPENAI_BASE_URL" in str(error)
    assert not any(word in str(error) for word in ("hunter2", "user", "token", "secret"))
    assert (elsewhere.headers, len(model_server.requests)) == ([], 1)


# Size


@each("status", [200, 500])
async def test_endless_answer_is_dropped_at_the_limit(
    model_server: ModelServer, client: AsyncOpenAI, status: int
) -> None:
    model_server.requests.clear()
    model_server.flooded = 0
    model_server.script(Flood(status))
    error = await failure(client)
    assert isinstance(error, BadResponseError)
    assert "more than 1 MB" in str(error)
    assert model_server.base_url.removeprefix("http://").removesuffix("/v1") in str(error)
    assert model_server.flooded < 20 * MB  # what the socket buffers hold
    assert len(model_server.requests) == 1


async def test_answer_of_1_mb_is_read_and_a_longer_one_refused(
    model_server: ModelServer, client: AsyncOpenAI
) -> None:
    model_server.script(http(padded(MB)), http(padded(MB + 1)))
    assert await raw_of(client) == "score: 4\nGood."
    assert "more than 1 MB" in str(await failure(client))


async def test_answer_is_asked_for_uncompressed_and_a_compressed_one_is_not_inflated(
    model_server: ModelServer, client: AsyncOpenAI
) -> None:
    model_server.script(http(gzip.compress(b" " * 12 * MB), "Content-Encoding: gzip\r\n"))
    tracemalloc.start()
    error = await failure(client)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(error, BadResponseError)
    assert peak < 6 * MB
    assert model_server.headers[0]["accept-encoding"] == "identity"


@ONE_TRANSPORT
async def test_error_is_read_as_utf_8_whatever_charset_it_names(
    model_server: ModelServer, client: AsyncOpenAI
) -> None:
    """httpx would decode with any codec of Python, and this one takes minutes for 1 MB."""
    body = b'{"error": {"message": "Invalid API key"}}'
    model_server.script(
        http(body, "Content-Type: application/json; charset=punycode\r\n", "400 Bad Request")
    )
    assert isinstance(await failure(client), KeyRejectedError)


@ONE_TRANSPORT
async def test_limit_is_10_mb_if_log_probabilities_are_requested(
    model_server: ModelServer, client: AsyncOpenAI
) -> None:
    entry = {
        "token": "4",
        "logprob": 0.0,
        "top_logprobs": [{"token": "4", "logprob": -0.1, "bytes": [52]}] * 20,
    }
    tokens = [{"token": "score: ", "top_logprobs": []}, entry]
    model_server.script(
        Answer("score: 4", logprobs={"content": tokens}, extra={"padding": "x" * 2 * MB})
    )
    [rating] = (
        await Judge(model="m", client=client, ask="distribution").score(QUESTION, RESPONSE)
    ).ratings
    assert isinstance(rating, Rating)
    assert rating.weighted_score == 4.0
    assert "more than 1 MB" in str(await failure(client))
    model_server.script(Flood())
    assert "more than 10 MB" in str(await failure(client, samples=None, ask="distribution"))


# The caller's client


async def test_answer_that_a_hook_has_already_read_is_used(
    model_server: ModelServer, client: AsyncOpenAI
) -> None:
    async def read(response: httpx2.Response) -> None:
        await response.aread()

    model_server.script(
        http(gzip.compress(GOOD), "Content-Encoding: gzip\r\n"), http(padded(MB + 1))
    )
    client._client.event_hooks = {"response": [read]}
    assert await raw_of(client) == "score: 4\nGood."
    assert "more than 1 MB" in str(await failure(client))


# What is no HTTP


@each(
    "sent",
    [
        b"",
        b"\x15\x03\x01\x00\x02\x02F",  # a TLS alert
        http(GOOD).sent[:-10],
        http(GOOD, f"X-Long: {'x' * 200_000}\r\n").sent,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello",
    ],
)
async def test_answer_that_is_not_http_names_the_address(
    model_server: ModelServer, client: AsyncOpenAI, sent: bytes
) -> None:
    model_server.script(Wire(sent))
    error = await failure(client, timeout_s=0.25)  # shorter than the wait before a retry
    assert isinstance(error, UnavailableError)
    assert re.search(r"127\.0\.0\.1:\d+ cannot be reached.*OPENAI_BASE_URL", str(error))


# Time


@each("reply", [Stall(), Stall(in_body=True), Drip(), Drip(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n")])
async def test_deadline_holds_whatever_the_server_does(
    model_server: ModelServer, client: AsyncOpenAI, reply: Reply
) -> None:
    model_server.script(reply)
    error = await failure(client, timeout_s=0.05)
    assert isinstance(error, DeadlineError)
    assert "within 0.5 s; raise JUDGE_TIMEOUT_S" in str(error)
