"""The one seam to the network: a model behind any OpenAI-compatible Chat Completions endpoint."""

import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from judge.errors import BadResponseError, SetupError
from judge.model.completion import Choice, Completion, to_completion
from judge.model.prices import cost_usd, has_price_list

if TYPE_CHECKING:
    import httpx2
    import openai

DEFAULT_MODEL = "gpt-6-luna"

# A limit so that a model that runs on comes to an end; wide, because a reasoning model's thinking counts.
_MAX_TOKENS = 8192
# The most candidates per token that OpenAI, Azure and vLLM give.
_LOGPROBS: Mapping[str, Any] = {"logprobs": True, "top_logprobs": 20}
_OPENAI_URL = "https://api.openai.com/v1"
_MAX_ATTEMPTS = 5
_FIRST_WAIT_S = 0.5


class ChatModel:
    """Asks one model, with retries and backoff of its own, and learns which optional parameters its server takes.

    Args:
        name: The model's name on the server.
        connect: Gives the client to ask through, one that does not retry; called at the first request and later.
    """

    def __init__(self, name: str, connect: Callable[[], "Awaitable[openai.AsyncOpenAI]"]) -> None:
        self.name = name
        self._connect = connect
        self._rejected: set[str] = set()

    @property
    def gives_several(self) -> bool:
        """Whether one request may bring several answers; true until the server shows that it does not."""
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
        """The model's answers to `prompt`, sent as the one user message.

        Args:
            prompt: Lone surrogates, which JSON cannot carry, are replaced.
            count: Answers wanted; there may be fewer, also where `gives_several` was true before.
            temperature: None leaves it to the server.
            logprobs: Whether to ask for the log probabilities of the tokens.
            give_up_at: In seconds of `time.monotonic()`. No wait between two attempts goes beyond it; the caller
                bounds the attempts themselves by cancelling.

        Raises:
            JudgeError: One of its children, after the retries.
        """
        import openai

        from judge.model.failures import is_filtered, is_worth_retrying, rejected_option, to_judge_error

        client = await self._connect()
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
                wait_s = _wait_s(exc, attempt)
                is_last = attempt == _MAX_ATTEMPTS or time.monotonic() + wait_s >= give_up_at
                if is_last or not is_worth_retrying(exc):
                    raise to_judge_error(exc, self.name, str(client.base_url)) from exc
            else:
                # Remembered only now: a prompt that is too long may have been mistaken for a limit that is too high.
                self._rejected |= rejected
                return completion
            await asyncio.sleep(wait_s)
            attempt += 1

    async def _request(self, client: "openai.AsyncOpenAI", prompt: str, options: Mapping[str, Any]) -> Completion:
        from judge.model.failures import hidden_error

        answer = await self._send(client, prompt, options)
        try:
            body = answer.json()
        except (ValueError, RecursionError) as exc:
            raise _not_a_completion(client) from exc
        if error := hidden_error(answer, body):
            raise error
        completion = to_completion(body)
        if completion is None:
            raise _not_a_completion(client)
        if len(completion.choices) < options.get("n", 1):
            self._rejected.add("n")
        base_url = str(client.base_url)
        if completion.input_tokens is None or not has_price_list(base_url):
            return completion
        counted = {name: body.get(name) for name in ("model", "usage", "service_tier")}
        # In a thread, because the first look at the price list takes a while.
        return replace(completion, cost_usd=await asyncio.to_thread(cost_usd, base_url, counted))

    async def _send(self, client: "openai.AsyncOpenAI", prompt: str, options: Mapping[str, Any]) -> "httpx2.Response":
        """The answer as it came: the `openai` package checks no types, and fails on some that it does not expect."""
        import aiohttp
        import httpx2
        import openai

        content = prompt.encode("utf-8", "replace").decode("utf-8")
        try:
            answer = await client.chat.completions.with_raw_response.create(
                model=self.name, messages=[{"role": "user", "content": content}], **options
            )
        except UnicodeEncodeError as exc:
            raise _odd_key() from exc
        except RuntimeError as exc:  # a closed client, or one of another event loop
            raise SetupError(
                "The client that was given is closed, or was used in another event loop; make a new one for each."
            ) from exc
        except aiohttp.ClientError as exc:  # what is no HTTP, which `openai` lets through as it is
            raise openai.APIConnectionError(request=httpx2.Request("POST", client.base_url)) from exc
        response: httpx2.Response = answer.http_response
        return response

    def _options(self, count: int, temperature: float | None, rejected: Set[str], *, logprobs: bool) -> dict[str, Any]:
        """The optional parameters but those that the server rejects."""
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
    from judge.model.failures import retry_after_s

    asked_for = retry_after_s(error)
    # Half of the wait is random, so that callers who failed together do not come back together.
    backoff = _FIRST_WAIT_S * 2 ** (attempt - 1) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
    return backoff if asked_for is None else asked_for


def _not_a_completion(client: "openai.AsyncOpenAI") -> BadResponseError:
    from judge.model.failures import not_a_completion

    return not_a_completion(str(client.base_url))


def make_client(api_key: str | None, base_url: str | None) -> "openai.AsyncOpenAI":
    """A client for a server; OpenAI's own without an address.

    Raises:
        SetupError: Neither a key nor an address, or an address that is none.
    """
    import openai

    if not api_key and not base_url:
        raise SetupError(
            "No model is set up: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own; "
            "the model 'offline' works without either."
        )
    # Without an address the client would read OPENAI_BASE_URL itself, and take an empty one for an address.
    url = base_url or _OPENAI_URL
    if not _is_address(url):
        raise SetupError("OPENAI_BASE_URL is not an address; it begins with http:// or https://, and a host follows.")
    if not re.fullmatch("[!-~]*", api_key or ""):
        raise _odd_key()
    # aiohttp takes half the CPU time per request, but no address that holds a user and a password.
    has_password = "@" in urlsplit(url).netloc
    return openai.AsyncOpenAI(
        api_key=api_key or "none",  # servers of one's own ask for no key, but the client insists on one
        base_url=url,
        max_retries=0,
        http_client=None if has_password else openai.DefaultAioHttpClient(),
    )


def _is_address(url: str) -> bool:
    import httpx2

    try:
        address = httpx2.URL(url)
        host = (urlsplit(url).hostname or "").encode("idna")  # fails on a part that is empty or too long
    except (httpx2.InvalidURL, ValueError):
        return False
    is_http = address.scheme in ("http", "https") and host != b""
    return is_http and (address.port or 0) < 2**16 and re.search(r"\s", url) is None


def _odd_key() -> SetupError:
    return SetupError("The key holds a blank, a line break or a letter that no key has; check OPENAI_API_KEY.")
