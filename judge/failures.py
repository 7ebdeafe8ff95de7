"""Turns what the `openai` package raises into one `JudgeError` child, and says whether asking again may help.

The server's own words are left out of every message: they may hold parts of the key or of the judged texts.
"""

import re
from collections.abc import Collection
from urllib.parse import urlsplit

import openai

from judge.errors import (
    BadResponseError,
    JudgeError,
    KeyRejectedError,
    ModelNotFoundError,
    QuotaExceededError,
    RateLimitedError,
    RequestRejectedError,
    UnavailableError,
)

_QUOTA_CODES = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "credit_balance_too_low"}
)
_TOO_LONG_CODES = frozenset({"context_length_exceeded", "string_above_max_length"})
_TOO_LONG_WORDS = re.compile(
    r"context (?:length|size|window)|maximum context|too many tokens|prompt is too long", re.IGNORECASE
)
_CODE = re.compile(r"[a-z][a-z0-9_]{2,39}")


def is_worth_retrying(error: openai.APIError) -> bool:
    """Whether the same request may succeed a moment later."""
    if isinstance(error, openai.APIConnectionError):
        return True
    if not isinstance(error, openai.APIStatusError) or error.code in _QUOTA_CODES:
        return False
    return error.status_code in (408, 409, 425, 429) or error.status_code >= 500


def is_filtered(error: openai.APIError) -> bool:
    """Whether a content filter withheld the answer (Azure sends a 400): that is data, not a failure."""
    return error.code == "content_filter"


def rejected_option(error: openai.APIError, options: Collection[str]) -> str | None:
    """The one of the parameters `options` that the server will not take; None where that is not it."""
    if not isinstance(error, openai.APIStatusError) or error.status_code not in (400, 422):
        return None
    complaint = f"{error.param or ''} {error.message}"
    named = [option for option in options if re.search(rf"(?<![\w]){option}(?![\w])", complaint)]
    if named:
        return named[0]
    # Servers that know one name for the limit complain about the other one by that name.
    limits = [option for option in options if option.startswith("max_")]
    return limits[0] if limits and re.search(r"\bmax_(?:completion_)?tokens\b", complaint) else None


def retry_after_s(error: openai.APIError) -> float | None:
    """The wait that the server asks for, in seconds; None where it names none that is a number."""
    if not isinstance(error, openai.APIStatusError):
        return None
    for header, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = error.response.headers.get(header, "").strip()
        if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", value):
            return float(value) * unit_s
    return None


def to_judge_error(error: openai.OpenAIError, model: str, base_url: str) -> JudgeError:
    """The `JudgeError` child for what the client raised, with the setting to change in its message."""
    if isinstance(error, openai.APIStatusError):
        return _from_status(error, model, server_name(base_url))
    if isinstance(error, openai.APIConnectionError):
        return UnavailableError(
            f"The model server at {server_name(base_url)} cannot be reached or drops the connection; "
            "check that it runs and that OPENAI_BASE_URL is right."
        )
    return not_a_completion(base_url)


def not_a_completion(base_url: str) -> BadResponseError:
    """For an answer that came with status 200 and is not a chat completion."""
    return BadResponseError(
        f"The server at {server_name(base_url)} answers, but not with a chat completion; "
        "check OPENAI_BASE_URL (it usually ends in /v1)."
    )


def server_name(base_url: str) -> str:
    """Host and port alone: the rest of an address can hold a user, a password or a key."""
    parts = urlsplit(base_url)
    return f"{parts.hostname or 'unknown'}{f':{parts.port}' if parts.port else ''}"


def _from_status(error: openai.APIStatusError, model: str, server: str) -> JudgeError:
    status = error.status_code
    if status in (401, 403):
        return KeyRejectedError(f"The server at {server} refuses the key (HTTP {status}); check OPENAI_API_KEY.")
    if status == 404:
        return ModelNotFoundError(
            f"The server at {server} has no model {model!r} (HTTP 404); check JUDGE_MODEL, and OPENAI_BASE_URL."
        )
    if error.code in _QUOTA_CODES or status == 402:
        return QuotaExceededError(
            f"The account behind OPENAI_API_KEY is out of quota at {server}; add credit or use another key."
        )
    if status == 429:
        return RateLimitedError(
            f"The server at {server} limits the rate of requests (HTTP 429); wait, lower JUDGE_CONCURRENCY "
            "or JUDGE_SAMPLES, or raise JUDGE_TIMEOUT_S."
        )
    if status >= 500 or status in (408, 409, 425):
        return UnavailableError(
            f"The model server at {server} fails (HTTP {status}); try again later, or check OPENAI_BASE_URL."
        )
    return _rejected(error, model, server)


def _rejected(error: openai.APIStatusError, model: str, server: str) -> RequestRejectedError:
    if error.status_code == 413 or error.code in _TOO_LONG_CODES or _TOO_LONG_WORDS.search(error.message):
        return RequestRejectedError(
            f"Question and response are too long for model {model!r}; shorten them, "
            "or set JUDGE_MODEL to one that reads more."
        )
    code = error.code if error.code and _CODE.fullmatch(error.code) else "no code given"
    return RequestRejectedError(
        f"The server at {server} rejects the request (HTTP {error.status_code}, {code}); check JUDGE_MODEL "
        "and OPENAI_BASE_URL."
    )
