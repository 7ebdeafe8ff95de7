"""What the tests' clients of the `openai` package share."""

import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx2
import openai
from openai import AsyncOpenAI

from judge import Judge, Turn, Verdict
from tests.model_server import ModelServer, Script

QUESTION = "Why is the sky blue at noon?"
RESPONSE = "Because air scatters blue light most."


@cache
def trusted() -> ssl.SSLContext:
    """The TLS context; made once, because it takes 30 ms and each client would make its own."""
    return httpx2.create_ssl_context()


@cache
def plain_client() -> openai.OpenAI:
    """A client for what needs no requests; made once for the same reason."""
    return openai.OpenAI(api_key="sk-very-secret", base_url="http://judge.test/v1")


def status_error(
    status: int, body: Any = None, headers: Mapping[str, str] | None = None
) -> openai.APIStatusError:
    """The error that the `openai` package makes of an answer; request and answer have `headers`."""
    request = httpx2.Request("POST", "http://judge.test/v1/chat/completions", headers=headers)
    response = httpx2.Response(status, json=body, headers=headers, request=request)
    return plain_client()._make_status_error_from_response(response)


def http_client() -> httpx2.AsyncClient:
    return openai.DefaultAsyncHttpxClient(verify=trusted())


def detoured(model_server: ModelServer, addresses: list[str]) -> httpx2.AsyncClient:
    """A client whose requests all reach `model_server`; `addresses` collects the addresses that
    they were sent to.
    """

    class Detour(httpx2.AsyncHTTPTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            addresses.append(str(request.url))
            request.url = httpx2.URL(f"{model_server.base_url}/chat/completions")
            return await super().handle_async_request(request)

    return httpx2.AsyncClient(transport=Detour(verify=trusted()))


@dataclass(frozen=True)
class Ask:
    """Has one response scored by the model `m`, which gives the `replies` in turn."""

    server: ModelServer
    client: AsyncOpenAI
    usual: Mapping[str, Any] = field(default_factory=lambda: {"model": "m"})

    async def __call__(
        self,
        *replies: Script,
        question: str = QUESTION,
        response: str = RESPONSE,
        said: Sequence[Turn] = (),
        **settings: Any,
    ) -> Verdict:
        if replies:
            self.server.script(*replies)
        return await self.judge(**settings).score(question, response, conversation=said)

    def judge(self, **settings: Any) -> Judge:
        return Judge(client=self.client, **{**self.usual, **settings})
