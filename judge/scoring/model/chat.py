"""A model behind any OpenAI-compatible Chat Completions endpoint: the requests to it, and their retries."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judge.scoring.model.client import ask
from judge.scoring.model.completion import Choice, Completion, cost_of, has_price_list, price_list, to_completion

if TYPE_CHECKING:
    import openai

DEFAULT_MODEL = "gpt-6-luna"
"""The default model of a judge."""

# A limit for a model that would never stop; it is high, because a reasoning model's thinking counts.
_MAX_TOKENS = 8192
# 20 is the largest number of candidates per token that OpenAI, Azure and vLLM return.
_LOGPROBS: Mapping[str, Any] = {"logprobs": True, "top_logprobs": 20}
# Servers' answers so far were a few kB long; log probabilities take 1.5 to 5 kB for each token.
_MOST_BYTES, _MOST_BYTES_WITH_LOGPROBS = 1_000_000, 10_000_000
_MAX_ATTEMPTS = 5
_FIRST_WAIT_S = 0.5


class ChatModel:
    """Asks one model, with its own retries and backoff, and learns which optional parameters its server accepts.

    Args:
        name: The model's name on the server.
        connect: Returns the client for requests; called for every request.
        setting: The setting that names the model, for messages that say to change it.
    """

    def __init__(
        self, name: str, connect: Callable[[], "Awaitable[openai.AsyncOpenAI]"], setting: str = "JUDGE_MODEL"
    ) -> None:
        self.name = name
        self.setting = setting
        self._connect = connect
        self._rejected: set[str] = set()

    @property
    def gives_several(self) -> bool:
        """Whether one request may return several answers; true until the server shows that it does not."""
        return "n" not in self._rejected

    async def complete(
        self,
        prompt: str,
        *,
        count: int = 1,
        temperature: float | None = None,
        logprobs: bool = False,
        give_up_at: float,
    ) -> Completion:
        """The model's answers to `prompt`, sent as a single user message.

        Args:
            prompt: Lone surrogates, which JSON cannot carry, are replaced.
            count: The number of answers wanted; there may be fewer, even if `gives_several` was true before.
            temperature: None leaves it to the server.
            logprobs: Whether to ask for the log probabilities of the tokens.
            give_up_at: The deadline, in seconds of `time.monotonic()`.

        Raises:
            JudgeError: The call failed. If `give_up_at` ended a retry, this is the failure before it.
            TimeoutError: `give_up_at` ended the first attempt.
        """
        import openai

        from judge.scoring.model.failures import to_judge_error

        client = await self._connect()
        failures: list[openai.APIError] = []
        try:
            async with asyncio.timeout(give_up_at - time.monotonic()):
                return await self._attempt(client, prompt, count, temperature, failures, give_up_at, logprobs=logprobs)
        except (openai.APIError, TimeoutError) as exc:
            if not failures:
                raise
            raise to_judge_error(failures[-1], self.name, str(client.base_url), prompt, self.setting) from exc

    async def _attempt(
        self,
        client: "openai.AsyncOpenAI",
        prompt: str,
        count: int,
        temperature: float | None,
        failures: "list[openai.APIError]",
        give_up_at: float,
        *,
        logprobs: bool,
    ) -> Completion:
        """Asks until there is an answer, or asking again cannot help; adds errors to `failures`."""
        import openai

        from judge.scoring.model.failures import is_filtered, is_worth_retrying, rejected_option

        rejected: set[str] = set()
        attempt = 1
        while True:
            options = self._options(count, temperature, self._rejected | rejected, logprobs=logprobs)
            try:
                completion = await self._request(client, prompt, options)
            except openai.APIError as exc:
                if is_filtered(exc):
                    return Completion((Choice(text="", finish_reason="content_filter"),) * count, cost_usd=0.0)
                if option := rejected_option(exc, options):
                    rejected.add(option)
                    continue
                failures.append(exc)
                wait_s = _wait_s(exc, attempt)
                is_last = attempt == _MAX_ATTEMPTS or time.monotonic() + wait_s >= give_up_at
                if is_last or not is_worth_retrying(exc):
                    raise
            else:
                # Remembered only after an answer: a prompt that is too long can look like a rejected limit.
                self._rejected |= rejected
                return completion
            await asyncio.sleep(wait_s)
            attempt += 1

    async def _request(self, client: "openai.AsyncOpenAI", prompt: str, options: Mapping[str, Any]) -> Completion:
        from judge.scoring.model.failures import not_a_completion

        base_url = str(client.base_url)
        prices = price_list() if has_price_list(base_url) else None  # read while the server works
        content = prompt.encode("utf-8", "replace").decode("utf-8")
        most_bytes = _MOST_BYTES_WITH_LOGPROBS if "logprobs" in options else _MOST_BYTES
        request = {"model": self.name, "messages": [{"role": "user", "content": content}], **options}
        body = await ask(client, request, most_bytes)
        completion = to_completion(body)
        if completion is None:
            raise not_a_completion(base_url)
        if len(completion.choices) < options.get("n", 1):
            self._rejected.add("n")
        if completion.input_tokens is None or prices is None:
            return completion
        if not prices.done():
            await asyncio.wait([asyncio.wrap_future(prices)])
        cost = cost_of(base_url, body)
        return replace(completion, cost_usd=cost) if cost is not None else completion

    def _options(self, count: int, temperature: float | None, rejected: Set[str], *, logprobs: bool) -> dict[str, Any]:
        limit = "max_tokens" if "max_completion_tokens" in rejected else "max_completion_tokens"
        options: dict[str, Any] = {limit: _MAX_TOKENS}
        if count > 1:
            options["n"] = count
        if temperature is not None:
            options["temperature"] = temperature
        if logprobs and rejected.isdisjoint(_LOGPROBS):
            options |= _LOGPROBS
        return {name: value for name, value in options.items() if name not in rejected}


def _wait_s(error: "openai.APIError", attempt: int) -> float:
    from judge.scoring.model.failures import retry_after_s

    asked_for = retry_after_s(error)
    # Half of the wait is random, so that callers that failed together do not retry together.
    backoff = _FIRST_WAIT_S * 2 ** (attempt - 1) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
    return backoff if asked_for is None else asked_for
