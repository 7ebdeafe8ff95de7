"""Reads a server's answer without trusting its types, and looks up its cost in the `genai-prices`
list.
"""

import ipaddress
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from judge.scoring.ratings import Spent

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot

_THOUGHTS = ("reasoning", "reasoning_content", "thinking")  # where servers put a model's thinking
# Counts are stored as 32-bit numbers, and no answer has more tokens.
_MOST_TOKENS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Token:
    """One token of an answer, and the log probabilities of the tokens that were possible in its
    place.
    """

    text: str
    candidates: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer: its unchanged `text`, and why it ended (`stop`, `length`, ...).

    `tokens` are those of `text`, if log probabilities were requested and returned. `has_thought` is
    whether the model thought before it answered, as far as its server says.
    """

    text: str
    finish_reason: str
    is_refusal: bool = False
    tokens: tuple[Token, ...] = ()
    has_thought: bool = False


@dataclass(frozen=True)
class Completion(Spent):
    """One request's answers, at least one, what all of them took, and which model answered, if the
    server says it.
    """

    choices: tuple[Choice, ...]
    served: str | None = None


def to_completion(body: object) -> Completion | None:
    """The choices of a chat completion; None if `body`, which may be any JSON, is something else.

    Reasoning that a server sends separately (`reasoning`, `reasoning_content`) is not part of the
    answer.
    """
    choices = _get(body, "choices")
    if not isinstance(choices, list) or not choices:
        return None
    usage = _get(body, "usage")
    thinking = _count(_get(_get(usage, "completion_tokens_details"), "reasoning_tokens"))
    return Completion(
        choices=tuple(_to_choice(choice, bool(thinking)) for choice in choices),
        input_tokens=_count(_get(usage, "prompt_tokens")),
        output_tokens=_count(_get(usage, "completion_tokens")),
        reasoning_tokens=thinking,
        served=_served(body),
    )


def to_decision(body: object) -> Completion | None:
    """The answers of a decision, as the JSON of a list; None if `body` is something else."""
    answers = _get(body, "answers")
    usage = _get(body, "usage")
    if not isinstance(answers, list):
        return None
    return Completion(
        (Choice(json.dumps(answers), "stop"),),
        input_tokens=_count(_get(usage, "input_tokens")),
        output_tokens=_count(_get(usage, "output_tokens")),
        served=_served(body),
    )


def _served(body: object) -> str | None:
    return _text(_get(body, "model"))[:80] or None


def _get(part: object, name: str) -> Any:
    return part.get(name) if isinstance(part, dict) else None


def _to_choice(choice: object, has_thought: bool) -> Choice:
    message = _get(choice, "message")
    refusal = _text(_get(message, "refusal"))
    finish_reason = _text(_get(choice, "finish_reason"))
    text = _text(_get(message, "content")) or refusal
    return Choice(
        text=text,
        # Mistral's reason if an answer fills the context before it reaches the requested limit.
        finish_reason="length" if finish_reason == "model_length" else finish_reason,
        is_refusal=bool(refusal),
        tokens=tuple(_tokens(_get(choice, "logprobs"))),
        has_thought=has_thought
        or any(_get(message, name) for name in _THOUGHTS)
        or text.lstrip().startswith("<think"),
    )


def _text(content: object) -> str:
    if isinstance(content, list):  # typed parts, as in answers of Mistral's reasoning models
        texts = [_get(part, "text") for part in content if _get(part, "type") == "text"]
        content = "".join(text for text in texts if isinstance(text, str))
    # Half a surrogate pair can be neither stored nor sent on.
    return content.encode("utf-8", "replace").decode("utf-8") if isinstance(content, str) else ""


def _count(tokens: object) -> int | None:
    return tokens if type(tokens) is int and 0 <= tokens <= _MOST_TOKENS else None  # a bool is none


def _tokens(logprobs: object) -> Iterator[Token]:
    content = _get(logprobs, "content")
    for entry in content if isinstance(content, list) else ():
        text = _get(entry, "token")
        candidates = _get(entry, "top_logprobs")
        if not isinstance(text, str) or not isinstance(candidates, list):
            return
        # The sampled token first, because the list of the most likely ones may leave it out.
        pairs = [(_get(each, "token"), _get(each, "logprob")) for each in (entry, *candidates)]
        # This also drops NaN and minus infinity, which Python's JSON accepts.
        known = {
            token: float(logprob)
            for token, logprob in pairs
            if isinstance(token, str) and isinstance(logprob, int | float) and -1e9 < logprob < 1e9
        }
        yield Token(text, known)


_DECISIONS = "-decisions"  # how the price list names the decisions of a provider
_COUNTS = ("total_tokens", "prompt_tokens", "completion_tokens")


@cache
def has_price_list(base_url: str) -> bool:
    """Whether a server at this address can have public prices: it is not this machine, and it has a
    public name.
    """
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host and not host.endswith((".local", ".internal", ".localhost"))


@cache
def price_list() -> "DataSnapshot":
    """The price list; it takes a fifth of a second to read."""
    from genai_prices import data_snapshot

    return data_snapshot.get_snapshot()


def cost_of(base_url: str, answer: dict[str, Any], is_decision: bool = False) -> float | None:
    """The price of an answer in US dollars, with cached tokens at their own price; None if it is
    not known.

    Provider (by `base_url`) and model must both be on the list, because a model of the same name on
    another server has another price. Of `answer`, `model`, `usage` and `service_tier` are read. Not
    for an event loop: see `price_list`.
    """
    tier = answer.get("service_tier")
    provider = _provider_at(base_url, is_decision=is_decision)
    if _has_more_fees(answer) or not provider:
        return None
    # Nearly always half the list price for flex; a model without the variant cannot be used so.
    context = {"service_tier": str(tier)}
    for flavor in ("chat", "default"):
        with suppress(LookupError, ValueError):
            usage = price_list().extract_usage(answer, provider, api_flavor=flavor)
            if tier in (None, "default"):
                return float(usage.calc_price().total_price)
            variants = (usage.model and usage.model.price_variants) or ()
            has_one = any(variant.when == context for variant in variants)
            return float(usage.calc_price(price_context=context).total_price) if has_one else None
    return None


@cache
def _provider_at(base_url: str, *, is_decision: bool) -> str | None:
    for provider in price_list().providers:
        match = (
            re.match(provider.api_pattern, base_url)
            if provider.id.endswith(_DECISIONS) is is_decision
            else None
        )
        if match and (
            match[0].endswith(("/", ".")) or base_url[match.end() :][:1] in ("", "/", ":")
        ):
            return provider.id
    return None


def _has_more_fees(answer: dict[str, Any]) -> bool:
    usage = answer.get("usage")
    counts = [usage.get(name) for name in _COUNTS] if isinstance(usage, dict) else []
    numbers = [count for count in counts if isinstance(count, int)]
    is_short = len(numbers) == len(_COUNTS) and numbers[0] > numbers[1] + numbers[2]
    return is_short or "search" in str(answer.get("model"))
