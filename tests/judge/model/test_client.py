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
    JudgeError,
    KeyRejectedError,
    UnavailableError,
)
from tests.judge_client import Ask, trusted
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


async def failure(ask: Ask, /, **settings: Any) -> JudgeError:
    with pytest.raises(JudgeError) as caught:
        await ask(**{"samples": 1, "timeout_s": 30, **settings})
    return caught.value


async def raw_of(ask: Ask) -> str:
    """The answer as the only rating keeps it."""
    [rating] = (await ask(samples=1)).ratings
    return rating.raw


def http(body: bytes, head: str = "", status: str = "200 OK") -> Wire:
    return Wire(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{head}\r\n".encode() + body)


def padded(size: int) -> bytes:
    """A good answer of `size` bytes."""
    return GOOD + b" " * (size - len(GOOD))


# Redirects


async def test_redirect_is_reported_and_never_followed(ask: Ask, elsewhere: ModelServer) -> None:
    elsewhere.script("score: 5\nStolen.")
    address = elsewhere.base_url.replace("//", "//user:hunter2@")
    location = f"{address}/chat/completions?token=secret"
    ask.server.script(Raw("", status=307, headers={"location": location}))
    error = await failure(ask)
    assert isinstance(error, BadResponseError)
    assert " redirects, and redirects are not followed" in str(error)
    assert "OPENAI_BASE_URL" in str(error)
    assert not any(word in str(error) for word in ("hunter2", "user", "token", "secret"))
    assert (elsewhere.headers, len(ask.server.requests)) == ([], 1)


# Size


async def test_endless_answer_is_dropped_at_the_limit(ask: Ask) -> None:
    ask.server.script(Flood())
    error = await failure(ask)
    assert isinstance(error, BadResponseError)
    assert "more than 1 MB" in str(error)
    assert ask.server.flooded < 20 * MB  # what the socket buffers hold
    assert len(ask.server.requests) == 1


async def test_answer_is_asked_for_uncompressed_and_a_compressed_one_is_not_inflated(
    ask: Ask,
) -> None:
    ask.server.script(http(gzip.compress(b" " * 12 * MB), "Content-Encoding: gzip\r\n"))
    tracemalloc.start()
    error = await failure(ask)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(error, BadResponseError)
    assert peak < 6 * MB
    assert ask.server.headers[0]["accept-encoding"] == "identity"


@ONE_TRANSPORT
async def test_error_is_read_as_utf_8_whatever_charset_it_names(ask: Ask) -> None:
    """httpx would decode with any codec of Python, and this one takes minutes for 1 MB."""
    body = b'{"error": {"message": "Invalid API key"}}'
    ask.server.script(
        http(body, "Content-Type: application/json; charset=punycode\r\n", "400 Bad Request")
    )
    assert isinstance(await failure(ask), KeyRejectedError)


@ONE_TRANSPORT
async def test_limit_is_10_mb_if_log_probabilities_are_requested(ask: Ask) -> None:
    entry = {"token": "4", "logprob": 0.0, "top_logprobs": [{"token": "4", "logprob": -0.1}]}
    tokens = [{"token": "score: ", "top_logprobs": []}, entry]
    ask.server.script(
        Answer("score: 4", logprobs={"content": tokens}, extra={"padding": "x" * 2 * MB})
    )
    assert (await ask(ask="distribution")).weighted_score == 4.0
    assert "more than 1 MB" in str(await failure(ask))
    ask.server.script(Flood())
    assert "more than 10 MB" in str(await failure(ask, samples=None, ask="distribution"))


# The caller's client


@ONE_TRANSPORT
async def test_answer_that_a_hook_has_already_read_is_used(ask: Ask) -> None:
    async def read(response: httpx2.Response) -> None:
        await response.aread()

    ask.server.script(http(gzip.compress(GOOD), "Content-Encoding: gzip\r\n"), http(padded(MB + 1)))
    ask.client._client.event_hooks = {"response": [read]}
    assert await raw_of(ask) == "score: 4\nGood."
    assert "more than 1 MB" in str(await failure(ask))


# What is no HTTP


@each(
    "sent",
    [
        b"",
        b"\x15\x03\x01\x00\x02\x02F",  # a TLS alert
        http(GOOD).sent[:-10],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello",
    ],
)
async def test_answer_that_is_not_http_names_the_address(ask: Ask, sent: bytes) -> None:
    ask.server.script(Wire(sent))
    error = await failure(ask, timeout_s=0.25)  # shorter than the wait before a retry
    assert isinstance(error, UnavailableError)
    assert re.search(r"127\.0\.0\.1:\d+ cannot be reached.*OPENAI_BASE_URL", str(error))


# Time


@each("reply", [Stall(), Stall(in_body=True), Drip(), Drip(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n")])
async def test_deadline_holds_whatever_the_server_does(ask: Ask, reply: Reply) -> None:
    ask.server.script(reply)
    error = await failure(ask, timeout_s=0.05)
    assert isinstance(error, DeadlineError)
    assert "within 0.5 s; raise JUDGE_TIMEOUT_S" in str(error)
