"""A scriptable OpenAI-compatible server on a real socket, for tests without mocks.

async with ModelServer() as server:
    server.script("score: 4\nGood.")                # every request gets this answer
    server.script(Failure(500), "score: 4\nGood.")  # the first fails, all later ones get the answer
    server.script(lambda request: Stall() if request["model"] == "slow" else "score: 3\nFair.")
    AsyncOpenAI(base_url=server.base_url, api_key="test")
    assert server.requests[0]["model"] == "gpt-6-luna"
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self, get_type_hints

from aiohttp import web
from openai.types.decision import Decision
from openai.types.decision_create_params import DecisionCreateParams
from pydantic import ConfigDict, TypeAdapter

from tests.patience import ONLY_A_HANG_S


@dataclass(frozen=True)
class Answer:
    """A chat completion. The texts in `more` are further choices, for requests with `n`."""

    text: str | None
    finish_reason: str = "stop"
    refusal: str | None = None
    more: tuple[str, ...] = ()
    logprobs: Any = None
    usage: Mapping[str, int] | None = field(
        default_factory=lambda: {"prompt_tokens": 400, "completion_tokens": 60, "total_tokens": 460}
    )
    extra: Mapping[str, Any] = field(default_factory=dict)
    service_tier: str | None = None
    model: str | None = None


@dataclass(frozen=True)
class Decided:
    """A decision: the probability of each level by its label, and of each predicate by its name;
    None is a refusal.

    `chosen` has the value for each question of the type `choice` by its name; without one, that is
    a refusal.

    `answers` and `usage` replace what these would give, as they are.
    """

    levels: Mapping[str, float] | None
    points: Mapping[str, float | None] = field(default_factory=dict)
    model: str | None = None
    chosen: Mapping[str, str] = field(default_factory=dict)
    answers: Any = None
    usage: Any = field(default_factory=lambda: _USAGE)


_USAGE = {
    "input_tokens": 700,
    "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
    "output_tokens": 9,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 709,
}


@dataclass(frozen=True)
class Failure:
    """An error in OpenAI's shape, or with another server's `body`."""

    status: int
    code: str | None = None
    message: str = "an error message of the server"
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None


@dataclass(frozen=True)
class Raw:
    """A response with any body, which need not be a completion or JSON."""

    body: str
    content_type: str = "application/json"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Wire:
    """Any bytes instead of an HTTP response; then the connection is closed."""

    sent: bytes


@dataclass(frozen=True)
class Stall:
    """No answer until the server stops; with `in_body`, only the first bytes of one."""

    in_body: bool = False


@dataclass(frozen=True)
class Held:
    """An answer that waits until `gate` is set."""

    gate: asyncio.Event
    text: str


@dataclass(frozen=True)
class Drip:
    """An answer that never ends: `head`, then `piece` again and again; by default an endless body."""

    head: bytes = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
    piece: bytes = b" " * 1024


@dataclass(frozen=True)
class Flood:
    """A body of 50 MB, as fast as the client reads it; `ModelServer.flooded` says how much was
    sent.
    """


@dataclass(frozen=True)
class Drop:
    """The connection is closed without an answer."""


Reply = str | Answer | Decided | Failure | Raw | Wire | Stall | Held | Drip | Flood | Drop
Script = Reply | Callable[[dict[str, Any]], Reply]


class ModelServer:
    """Answers chat completions and decisions as scripted.

    Records the requests' bodies, headers and concurrency.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.most_at_once = 0
        self.flooded = 0
        # Answers to requests with these words, which are not recorded.
        self.apart: dict[str, Script] = {}
        self.models: dict[str, Any] = {}  # what it says of each, beside its id
        self._at_once = 0
        self._script: list[Script] = [Failure(500, message="nothing is scripted")]
        self._stopping = asyncio.Event()
        self._news = asyncio.Condition()
        self._runner: web.AppRunner | None = None
        self.base_url = ""

    def script(self, *replies: Script) -> None:
        """Answers with `replies` in turn; the last one stays for all further requests."""
        self._script = list(replies)

    async def asked(self, times: int) -> None:
        """Returns once that many requests have arrived; a test that waits in vain fails instead of
        hanging.
        """
        async with asyncio.timeout(ONLY_A_HANG_S), self._news:
            await self._news.wait_for(lambda: len(self.requests) >= times)

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._handle)
        app.router.add_post("/v1/decisions", self._handle)
        app.router.add_post("/v1/deployments/{model}/chat/completions", self._handle)  # Azure
        app.router.add_get("/v1/models/{model}", self._tell_of_model)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        port = self._runner.addresses[0][1]
        self.base_url = f"http://127.0.0.1:{port}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stopping.set()
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        for words, script in self.apart.items():
            if words in str(body.get("messages")):
                return await self._send(request, body, script)
        self.requests.append(body)
        self.headers.append(request.headers)
        async with self._news:
            self._news.notify_all()
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            scripted = self._script.pop(0) if len(self._script) > 1 else self._script[0]
            return await self._send(request, body, scripted)
        finally:
            self._at_once -= 1

    async def _send(
        self, request: web.Request, body: dict[str, Any], script: Script
    ) -> web.StreamResponse:
        match reply := script(body) if callable(script) else script:
            case str() | Answer() | Held():
                if isinstance(reply, Held):
                    await reply.gate.wait()
                    reply = reply.text
                return web.json_response(to_completion(body, reply))
            case Decided():
                return web.json_response(to_decision(body, reply))
            case Failure():
                return web.json_response(
                    to_error(reply), status=reply.status, headers=reply.headers
                )
            case Raw():
                return web.Response(
                    text=reply.body,
                    content_type=reply.content_type,
                    status=reply.status,
                    headers=reply.headers,
                )
            case Wire():
                request.transport.write(reply.sent)
                request.transport.close()
                return web.Response()
            case Drop():
                request.transport.abort()
                return web.Response()
            case Stall():
                return await self._stall(request, in_body=reply.in_body)
            case Drip():
                return await self._drip(request, reply)
            case _:
                return await self._flood(request)

    async def _stall(self, request: web.Request, *, in_body: bool) -> web.StreamResponse:
        response = web.StreamResponse(
            headers={"Content-Type": "application/json", "Content-Length": "1000"}
        )
        if in_body:
            await response.prepare(request)
            await response.write(b'{"id": "stalled", ')
        await self._stopping.wait()
        return response

    async def _drip(self, request: web.Request, drip: Drip) -> web.StreamResponse:
        request.transport.write(drip.head)
        while not (self._stopping.is_set() or request.transport.is_closing()):
            request.transport.write(drip.piece)
            await asyncio.sleep(0.005)
        request.transport.abort()
        return web.Response()

    async def _flood(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=500)
        await response.prepare(request)
        with suppress(ConnectionError):
            for _ in range(1_000):
                await response.write(b"x" * 50_000)
                self.flooded += 50_000
        return response

    async def _tell_of_model(self, request: web.Request) -> web.Response:
        name = request.match_info["model"]
        if name not in self.models:
            return web.json_response({"error": {"message": "not found"}}, status=404)
        return web.json_response({"id": name, "object": "model", **self.models[name]})


def to_completion(body: dict[str, Any], reply: str | Answer) -> dict[str, Any]:
    answer = Answer(reply) if isinstance(reply, str) else reply
    choices = [
        {
            "index": index,
            "finish_reason": answer.finish_reason,
            "logprobs": answer.logprobs,
            "message": {
                "role": "assistant",
                "content": text,
                "refusal": answer.refusal,
                **answer.extra,
            },
        }
        for index, text in enumerate((answer.text, *answer.more))
    ]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": answer.model or body["model"],
        "choices": choices,
        **({"service_tier": answer.service_tier} if answer.service_tier else {}),
        **({"usage": dict(answer.usage)} if answer.usage else {}),
    }


def to_decision(body: dict[str, Any], decided: Decided) -> dict[str, Any]:
    """The decision, after checking request and answer by the types of the package `openai`."""
    for name, kind in get_type_hints(DecisionCreateParams).items():
        if name in body:
            checked = TypeAdapter(
                kind, config=ConfigDict(arbitrary_types_allowed=True)
            ).validate_python(body[name])
            assert isinstance(checked, str) or len(list(checked)) == len(
                body[name]
            )  # an iterable is checked lazily
    assert {"model", "input", "questions"} <= body.keys()
    assert body.keys().isdisjoint(
        {"messages", "n", "stream", "temperature", "reasoning_effort", "service_tier"}
    )
    assert 1 <= len(body["questions"]) <= 400
    answers = [{"name": each["name"]} | _answer_to(each, decided) for each in body["questions"]]
    decision = {"answers": answers, "model": decided.model or body["model"], "usage": _USAGE}
    Decision.model_validate(decision)
    return (
        decision
        | {"usage": decided.usage}
        | ({} if decided.answers is None else {"answers": decided.answers})
    )


def _answer_to(question: Mapping[str, Any], decided: Decided) -> dict[str, Any]:
    kind = question["type"]
    name = question["name"]
    if kind == "score" and decided.levels is not None:
        assert 2 <= len(question["levels"]) <= 10
        chances = enumerate(decided.levels.items())
        levels = [
            {"label": label, "value": at, "probability": chance} for at, (label, chance) in chances
        ]
        return {"type": kind, "score": 0.0, "confidence": 0.5, "probabilities": levels}
    if kind == "predicate" and (chance := decided.points.get(name, 0.5)) is not None:
        return {"type": kind, "probability": chance}
    if kind == "choice" and (chosen := decided.chosen.get(name)):
        values = [each["value"] for each in question["choices"]]
        assert 2 <= len(set(values)) == len(values) <= 255
        chances = [{"value": each, "probability": float(each == chosen)} for each in values]
        return {"type": kind, "choice": chosen, "confidence": 0.5, "probabilities": chances}
    return {"type": "refusal"}


def to_error(failure: Failure) -> Any:
    if failure.body is not None:
        return failure.body
    return {
        "error": {
            "message": failure.message,
            "type": "invalid_request_error",
            "param": failure.param,
            "code": failure.code,
        }
    }
