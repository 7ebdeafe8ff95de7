"""What a server answered: the choices of one chat completion, read without trust in its types."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Token:
    """One token of an answer, and the log probabilities of the tokens that might have stood there."""

    text: str
    candidates: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer: `text` to the letter, and why it ended (`stop`, `length`, ...).

    `tokens` are those of `text`, where log probabilities were asked for and given.
    """

    text: str
    finish_reason: str
    is_refusal: bool = False
    tokens: tuple[Token, ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """One request's answers, at least one; tokens and `cost_usd` are for all of them, None where unknown."""

    choices: tuple[Choice, ...]
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


def to_completion(answer: object) -> Completion | None:
    """The choices of a chat completion; None where `answer` is something else.

    The `openai` package checks no types, so a server's answer may hold anything anywhere.
    """
    choices = getattr(answer, "choices", None)
    if not isinstance(choices, list) or not choices:
        return None
    usage = getattr(answer, "usage", None)
    return Completion(
        choices=tuple(_to_choice(choice) for choice in choices),
        input_tokens=_count(getattr(usage, "prompt_tokens", None)),
        output_tokens=_count(getattr(usage, "completion_tokens", None)),
    )


def _to_choice(choice: object) -> Choice:
    message = getattr(choice, "message", None)
    refusal = getattr(message, "refusal", None)
    return Choice(
        text=_text(getattr(message, "content", None)) or _text(refusal),
        finish_reason=str(getattr(choice, "finish_reason", None)),
        is_refusal=bool(refusal),
        tokens=tuple(_tokens(getattr(choice, "logprobs", None))),
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


def _tokens(logprobs: object) -> Iterator[Token]:
    content = getattr(logprobs, "content", None)
    for entry in content if isinstance(content, list) else ():
        text = getattr(entry, "token", None)
        candidates = getattr(entry, "top_logprobs", None)
        if not isinstance(text, str) or not isinstance(candidates, list):
            return
        yield Token(text, dict(_candidates(candidates)))


def _candidates(candidates: list[Any]) -> Iterator[tuple[str, float]]:
    for candidate in candidates:
        text, logprob = getattr(candidate, "token", None), getattr(candidate, "logprob", None)
        if isinstance(text, str) and isinstance(logprob, int | float):
            yield text, float(logprob)
