"""The one seam to the network: a model behind any OpenAI-compatible Chat Completions endpoint."""

import asyncio
import os
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge.errors import BadResponseError, SetupError

if TYPE_CHECKING:
    import openai

DEFAULT_MODEL = "gpt-6-luna"

# A limit so that a model that runs on comes to an end; wide, because a reasoning model's thinking counts.
_MAX_TOKENS = 8192
_OPENAI_URL = "https://api.openai.com/v1"
_MAX_ATTEMPTS = 5
_FIRST_WAIT_S = 0.5


@dataclass(frozen=True)
class Completion:
    """One answer of a model: `text` to the letter, and why it ended (`stop`, `length`, ...)."""

    text: str
    finish_reason: str
    is_refusal: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None


class ChatModel:
    """Asks one model, with retries and backoff of its own, and learns which optional parameters its server takes.

    Args:
        name: The model's name on the server.
        client: An `AsyncOpenAI` to use and leave open; None makes one from OPENAI_API_KEY and OPENAI_BASE_URL.
    """

    def __init__(self, name: str, client: "openai.AsyncOpenAI | None" = None) -> None:
        self.name = name
        self._client = client.with_options(max_retries=0) if client is not None else None
        self._owns_client = client is None
        self._rejected: set[str] = set()

    async def complete(self, prompt: str, *, temperature: float | None, give_up_at: float) -> Completion:
        """The model's answer to `prompt`, sent as the one user message.

        Args:
            prompt: Lone surrogates, which JSON cannot carry, are replaced.
            temperature: None leaves it to the server.
            give_up_at: In seconds of `time.monotonic()`. No wait between two attempts goes beyond it; the caller
                bounds the attempts themselves by cancelling.

        Raises:
            JudgeError: One of its children, after the retries.
        """
        import openai

        from judge.failures import is_filtered, is_worth_retrying, rejected_option, to_judge_error

        attempt = 1
        while True:
            options = self._options(temperature)
            try:
                return await self._request(prompt, options)
            except openai.APIError as exc:
                if is_filtered(exc):
                    return Completion(text="", finish_reason="content_filter")
                if option := rejected_option(exc, options):
                    self._rejected.add(option)
                    continue
                wait_s = _wait_s(exc, attempt)
                is_last = attempt == _MAX_ATTEMPTS or time.monotonic() + wait_s >= give_up_at
                if is_last or not is_worth_retrying(exc):
                    raise to_judge_error(exc, self.name, str(self._connect().base_url)) from exc
            await asyncio.sleep(wait_s)
            attempt += 1

    async def aclose(self) -> None:
        """Closes the connections, unless the client was given."""
        if self._client is not None and self._owns_client:
            await self._client.close()
            self._client = None

    async def _request(self, prompt: str, options: Mapping[str, Any]) -> Completion:
        client = self._connect()
        content = prompt.encode("utf-8", "replace").decode("utf-8")
        try:
            answer = await client.chat.completions.create(
                model=self.name, messages=[{"role": "user", "content": content}], **options
            )
        except UnicodeEncodeError as exc:
            raise SetupError("The key holds characters that no key has; check OPENAI_API_KEY.") from exc
        except ValueError as exc:  # a body that is not JSON
            raise _not_a_completion(client) from exc
        completion = to_completion(answer)
        if completion is None:
            raise _not_a_completion(client)
        return completion

    def _options(self, temperature: float | None) -> dict[str, Any]:
        """The optional parameters that this server was not seen to reject."""
        limit = "max_tokens" if "max_completion_tokens" in self._rejected else "max_completion_tokens"
        options = {limit: _MAX_TOKENS} | ({} if temperature is None else {"temperature": temperature})
        return {name: value for name, value in options.items() if name not in self._rejected}

    def _connect(self) -> "openai.AsyncOpenAI":
        if self._client is None:
            self._client = make_client(os.environ.get("OPENAI_API_KEY"), os.environ.get("OPENAI_BASE_URL"))
        return self._client


def to_completion(answer: object) -> Completion | None:
    """The first choice of a chat completion; None where `answer` is something else.

    The `openai` package checks no types, so a server's answer may hold anything anywhere.
    """
    choices = getattr(answer, "choices", None)
    if not isinstance(choices, list) or not choices:
        return None
    message = getattr(choices[0], "message", None)
    refusal = getattr(message, "refusal", None)
    usage = getattr(answer, "usage", None)
    return Completion(
        text=_text(getattr(message, "content", None)) or _text(refusal),
        finish_reason=str(getattr(choices[0], "finish_reason", None)),
        is_refusal=bool(refusal),
        input_tokens=_count(getattr(usage, "prompt_tokens", None)),
        output_tokens=_count(getattr(usage, "completion_tokens", None)),
    )


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):  # typed parts, as Mistral's reasoning models answer
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _count(tokens: object) -> int | None:
    return tokens if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0 else None


def _wait_s(error: "openai.APIError", attempt: int) -> float:
    from judge.failures import retry_after_s

    asked_for = retry_after_s(error)
    # Half of the wait is random, so that callers who failed together do not come back together.
    backoff = _FIRST_WAIT_S * 2 ** (attempt - 1) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
    return backoff if asked_for is None else asked_for


def _not_a_completion(client: "openai.AsyncOpenAI") -> BadResponseError:
    from judge.failures import not_a_completion

    return not_a_completion(str(client.base_url))


def make_client(api_key: str | None, base_url: str | None) -> "openai.AsyncOpenAI":
    """A client for a server; OpenAI's own without an address.

    Raises:
        SetupError: Neither a key nor an address.
    """
    import openai

    if not api_key and not base_url:
        raise SetupError(
            "No model is set up: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own; "
            "JUDGE_MODEL=offline (on the command line, --model offline) works without either."
        )
    # Servers of one's own ask for no key, but the client insists on one. Without an address it would read
    # OPENAI_BASE_URL itself, and take an empty one for an address.
    return openai.AsyncOpenAI(api_key=api_key or "none", base_url=base_url or _OPENAI_URL, max_retries=0)
