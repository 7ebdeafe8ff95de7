"""A model behind any OpenAI-compatible endpoint: the requests to it, and their retries."""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from judge.scoring.model.addresses import CHAT, DECISIONS, is_openais
from judge.scoring.model.client import PATIENCE_S, ask
from judge.scoring.model.completion import (
    Choice,
    Completion,
    cost_of,
    has_price_list,
    to_completion,
    to_decision,
)
from judge.scoring.model.throttle import throttle_of
from judge.scoring.model.wishes import FLEX, NO_EFFORT, Wishes
from judge.scoring.ratings import add_up

if TYPE_CHECKING:
    import openai

DEFAULT_MODEL = "gpt-6-luna"
"""The default model of a judge."""

# Limits for an answer. Of 2,255 recorded verdicts of 16 models, one was longer than the short one
# (half have about 220 tokens); the long one is for models that think, because thinking counts, and
# for other texts.
_SHORT = 1024
LONG = 8192
# 20 is the largest number of candidates per token that OpenAI, Azure and vLLM return.
_LOGPROBS: dict[str, Any] = {"logprobs": True, "top_logprobs": 20}
# Servers' answers so far were a few kB long; log probabilities take 1.5 to 5 kB for each token.
_MOST_BYTES = 1_000_000
_MOST_BYTES_WITH_LOGPROBS = 10_000_000
_MAX_ATTEMPTS = 5
_LIMIT = "max_completion_tokens"
# OpenAI and Azure want the newer name; Ollama ignores it (ollama#7125), and others need not know
# it.
_OLDER_LIMIT = "max_tokens"
_LIMITS = (_LIMIT, _OLDER_LIMIT)
_FILTERED = Choice(text="", finish_reason="content_filter")


@dataclass(eq=False)
class ChatModel:
    """Asks one model, with its own retries and backoff, and learns which optional parameters its
    server accepts.

    `connect` returns the client, for each request. `timeout_s` counts from when a request goes to
    the server.
    `shortfalls` has a sentence for each wish that the server did not grant, `served` the name of
    the model that answered last, if the server gives it, and `rejected` the parameters that it is
    asked without.
    """

    name: str
    connect: Callable[[], "Awaitable[openai.AsyncOpenAI]"]
    wishes: Wishes = Wishes()  # noqa: RUF009 - frozen
    timeout_s: float = math.inf
    shortfalls: dict[str, None] = field(default_factory=dict, init=False)  # each once
    served: str | None = field(default=None, init=False)
    rejected: set[str] = field(default_factory=set, init=False)
    _thinks: bool = field(default=False, init=False)

    @property
    def gives_several(self) -> bool:
        """Whether one request may return several answers; true until the server shows that it does
        not.
        """
        return "n" not in self.rejected

    @property
    def gives_logprobs(self) -> bool:
        """Whether log probabilities may be asked for; true until the server refuses them."""
        return self.rejected.isdisjoint(_LOGPROBS)

    def note(self, shortfall: str) -> None:
        self.shortfalls[shortfall] = None

    async def complete(
        self,
        prompt: str,
        *,
        count: int = 1,
        temperature: float | None = None,
        logprobs: bool = False,
        most_tokens: int | None = None,
        stop: str | None = None,
        give_up_at: float,
    ) -> Completion:
        """The model's answers to `prompt`, sent as a single user message; there may be fewer than
        `count`.

        A `temperature` of None leaves it to the server. The answer ends before the text `stop`.
        `give_up_at` is the deadline with all waiting, in seconds of `time.monotonic()`. Raises
        JudgeError if the call failed (if time ended a retry, that of the failure before), and
        TimeoutError if the first attempt got no answer in time.
        """
        effort = self.wishes.effort
        options = {
            "n": count if count > 1 else None,
            "temperature": temperature,
            "reasoning_effort": effort,
            "stop": stop,
        }
        wanted = {_LIMIT: most_tokens or self.wishes.most_tokens} | (_LOGPROBS if logprobs else {})
        wanted |= {name: value for name, value in options.items() if value is not None}
        message = {"role": "user", "content": _sendable(prompt)}
        return await self._send(CHAT, {"messages": [message]}, wanted, give_up_at)

    async def decide(
        self,
        messages: Sequence[Mapping[str, str]],
        questions: Sequence[Mapping[str, Any]],
        *,
        give_up_at: float,
    ) -> Completion:
        """A decision model's answers to `questions` about `messages`, as the JSON of a list; raises
        as `complete`.
        """
        messages = [{**each, "content": _sendable(each["content"])} for each in messages]
        return await self._send(
            DECISIONS, {"input": messages, "questions": questions}, {}, give_up_at
        )

    async def _send(
        self, path: str, body: Mapping[str, Any], wanted: Mapping[str, Any], give_up_at: float
    ) -> Completion:
        """The answer to `body` with what is `wanted` of it, as far as the server takes that."""
        import openai

        from judge.scoring.model.failures import all_words, to_judge_error

        client = await self.connect()
        failures: list[openai.APIError] = []
        try:
            async with asyncio.timeout(give_up_at - time.monotonic()):
                return await self._attempt(client, path, body, wanted, failures, give_up_at)
        except (openai.APIError, TimeoutError) as exc:
            if not failures:
                raise
            own = (f"<response>{word}</response>" for word in all_words(self.wishes.fields).split())
            texts = "\n".join(
                [*(each["content"] for each in body.get("messages", body.get("input"))), *own]
            )
            raise to_judge_error(
                failures[-1], self.name, str(client.base_url), texts, path
            ) from exc

    async def _attempt(
        self,
        client: "openai.AsyncOpenAI",
        path: str,
        body: Mapping[str, Any],
        wanted: Mapping[str, Any],
        failures: "list[openai.APIError]",
        give_up_at: float,
    ) -> Completion:
        """Asks until there is an answer, or asking again cannot help; adds errors to `failures`."""
        import openai

        from judge.scoring.model.failures import is_filtered, rejected_option

        rejected: set[str] = set()
        spent: Completion | None = None
        while True:
            options = self._options(wanted, self.rejected | rejected, client)
            try:
                completion = await self._ask(client, path, {**body, **options}, give_up_at)
            except openai.APIError as exc:
                if is_filtered(exc):
                    return Completion((_FILTERED,) * wanted.get("n", 1), cost_usd=0.0)
                if option := rejected_option(exc, options):
                    rejected.add(option)
                    continue
                failures.append(exc)
                wait_s = self._wait_s(exc, len(failures), give_up_at)
                if wait_s is None:
                    raise
                await asyncio.sleep(wait_s)
                continue
            self._learn(completion, rejected | self._ignored(completion, options))
            if spent is not None:
                completion = replace(completion, **add_up((spent, completion)))
            if wanted.get(_LIMIT, 0) is not None or not self._lacks_room(completion, options):
                return completion
            spent = completion

    def _lacks_room(self, completion: Completion, options: Mapping[str, Any]) -> bool:
        """Whether thinking used up the short answer; it fits the long one."""
        is_cut = any(choice.finish_reason == "length" for choice in completion.choices)
        return self._thinks and is_cut and _SHORT in options.values()

    def _wait_s(self, error: "openai.APIError", attempt: int, give_up_at: float) -> float | None:
        """How long to wait before asking again; None if that cannot help."""
        from judge.scoring.model.failures import all_words, is_worth_retrying

        if not is_worth_retrying(error):
            return None
        wait_s = _backoff_s(error, attempt)
        if wait_s >= self.timeout_s or time.monotonic() + wait_s >= give_up_at:
            return None
        # A model is loaded within minutes, as llama.cpp says; capacity at this tier comes and goes
        # in as many.
        status = getattr(error, "status_code", None)
        is_loading = status == 503 and "loading" in all_words(error.body).lower()
        is_full = status == 429 and self.wishes.tier == FLEX
        return wait_s if attempt < _MAX_ATTEMPTS or is_loading or is_full else None

    def _learn(self, completion: Completion, rejected: Set[str]) -> None:
        """Remembers what the server rejected only after an answer: a prompt that is too long can
        look like a rejected limit.
        """
        self.rejected |= rejected
        self._thinks |= any(choice.has_thought for choice in completion.choices)
        # A model that does not think need not know how to think less.
        is_missed = self._thinks or self.wishes.effort != NO_EFFORT
        if is_missed and "reasoning_effort" in self.rejected:
            self.note(
                f"Model {self.name!r} refuses JUDGE_EFFORT={self.wishes.effort} and is asked "
                "without it."
            )

    def _ignored(self, completion: Completion, options: Mapping[str, Any]) -> Set[str]:
        """The name under which the server does not hold to the limit, if there is another one."""
        for name, other in (_LIMITS, _LIMITS[::-1]):
            most = options.get(name, math.inf) * len(completion.choices)
            if (completion.output_tokens or 0) > most and other not in self.rejected:
                return {name}
        return set()

    async def _ask(
        self,
        client: "openai.AsyncOpenAI",
        path: str,
        body: Mapping[str, Any],
        give_up_at: float,
    ) -> Completion:
        from judge.scoring.model.failures import not_a_completion

        base_url = str(client.base_url)
        wishes = self.wishes
        send = self._request(client, path, body)
        answer: dict[str, Any] = await throttle_of(client).run(send, self.timeout_s, give_up_at)
        completion = to_completion(answer) if path == CHAT else to_decision(answer)
        if completion is None:
            raise not_a_completion(base_url)
        if len(completion.choices) < body.get("n", 1):
            self.rejected.add("n")
        self._compare(path, answer, completion)
        is_unknown = (
            wishes.tier and "service_tier" not in answer
        )  # the price, which the tier that answered decides
        if completion.input_tokens is None or is_unknown or not has_price_list(base_url):
            return completion
        cost = await asyncio.to_thread(cost_of, base_url, answer, path == DECISIONS)
        return replace(completion, cost_usd=cost)

    def _request(
        self, client: "openai.AsyncOpenAI", path: str, body: Mapping[str, Any]
    ) -> Callable[[], Awaitable[Any]]:
        wishes = self.wishes
        tier = {"service_tier": wishes.tier} if wishes.tier else {}
        request = {"model": self.name, **body, **tier, **wishes.fields}
        most_bytes = _MOST_BYTES_WITH_LOGPROBS if "logprobs" in request else _MOST_BYTES
        patience_s = PATIENCE_S if wishes.tier == FLEX else None
        return partial(ask, client, request, most_bytes, path, patience_s)

    def _compare(self, path: str, answer: Mapping[str, Any], completion: Completion) -> None:
        """Notes what was answered otherwise than asked for."""
        tier = self.wishes.tier
        served = answer.get("service_tier")
        self.served = model = completion.served
        if isinstance(served, str) and tier not in (None, "auto", served):
            self.note(
                f"Model {self.name!r} was asked at tier {tier!r} and answered at "
                f"{served[:40]!r}, at its price."
            )
        # In chat completions many servers name the model otherwise.
        if path == DECISIONS and model and not model.startswith(self.name.rpartition("/")[2]):
            self.note(f"Model {self.name!r} was asked, and {model!r} answered.")

    def _options(
        self, wanted: Mapping[str, Any], rejected: Set[str], client: "openai.AsyncOpenAI"
    ) -> dict[str, Any]:
        options = dict(wanted)
        own = self.wishes.fields.keys()
        if _LIMIT in wanted:
            limit = options.pop(_LIMIT) or (LONG if self._thinks else _SHORT)
            name, other = _LIMITS if is_openais(str(client.base_url)) else _LIMITS[::-1]
            name = other if name in rejected else name
            options = ({name: limit} if own.isdisjoint(_LIMITS) else {}) | options
        left_out = rejected | (set() if rejected.isdisjoint(_LOGPROBS) else _LOGPROBS.keys())
        return {name: value for name, value in options.items() if name not in left_out}


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _backoff_s(error: "openai.APIError", attempt: int) -> float:
    from judge.scoring.model.failures import retry_after_s

    asked_for = retry_after_s(error)
    # Half of the wait is random, so that callers that failed together do not retry together.
    longest: float = min(0.5 * 2 ** (attempt - 1), 30.0)  # seconds
    backoff = longest * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
    if asked_for is None:
        return backoff
    # A server that asks for short waits again and again does not mean it.
    return asked_for if attempt <= 2 * _MAX_ATTEMPTS else max(backoff, asked_for)
