"""Turns what the `openai` package raises into one `JudgeError` child, and says whether asking again may help.

Servers agree on status codes at best, so their words are read where codes do not tell; tests/server_profiles.py holds
what each server sends, with its source. Into a message they get as `quote` gives them: without the key and the judged
texts.
"""

import re
from collections.abc import Collection
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import TYPE_CHECKING

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
from judge.model.addresses import origin, server_name
from judge.model.completion import MOST_CHOICES
from judge.model.words import all_words, quote

if TYPE_CHECKING:
    import httpx2


_Problem = Enum("_Problem", "FILTERED QUOTA MODEL KEY TOO_LONG RATE UNAVAILABLE NO_COMPLETION REJECTED")

# What words tell before the status does, and with which statuses; the first row that fits counts.
_WORDS = (
    (
        _Problem.FILTERED,
        range(400, 500),
        r"content_filter|content_?policy_?violation|content management policy|responsibleaipolicyviolation"
        r"|(?:input|prompt) was flagged|invalid_prompt|data_inspection_failed|content exists risk",
    ),
    (
        _Problem.QUOTA,
        range(400, 600),
        r"insufficient_(?:user_)?quota|insufficient (?:credits|balance)|billing_hard_limit_reached|billing_not_active"
        r"|credit[_ ]balance|budget_exceeded|exceeded ?(?:token)?budget|budget has been exceeded|crossed budget",
    ),
    (
        _Problem.MODEL,
        range(400, 500),
        r"model_not_found|model_access_denied|deploymentnotfound|invalid model|not a valid model|model not exist"
        r"|access to model|\bmodel\b.{0,100}(?:does not exist|not found)",
    ),
    (
        _Problem.KEY,
        range(400, 500),
        # LiteLLM has no database to look a key up in that is not its own
        r"(?:invalid|incorrect)[ _]api[ _]key|api[ _]key[ _](?:not valid|invalid)|no connected db|no_db_connection",
    ),
    (
        _Problem.TOO_LONG,
        range(400, 600),
        r"context[ _]?(?:length|size|window|limit)|too many tokens|prompt is too long|input token count"
        r"|max_new_tokens` must be|string_above_max_length",
    ),
)
_STATUSES = {
    401: _Problem.KEY,
    402: _Problem.QUOTA,
    403: _Problem.KEY,
    404: _Problem.MODEL,
    408: _Problem.UNAVAILABLE,
    409: _Problem.UNAVAILABLE,
    413: _Problem.TOO_LONG,
    425: _Problem.UNAVAILABLE,
    429: _Problem.RATE,
}
_ERRORS: dict[_Problem, tuple[type[JudgeError], str]] = {
    _Problem.QUOTA: (
        QuotaExceededError,
        "The account behind OPENAI_API_KEY is out of quota at {server} ({answer}); add credit or use another key.",
    ),
    _Problem.MODEL: (
        ModelNotFoundError,
        "The server at {server} has no model {model!r} ({answer}); check {setting}, and "
        "OPENAI_BASE_URL (it usually ends in /v1).",
    ),
    _Problem.KEY: (
        KeyRejectedError,
        "The server at {server} refuses the key ({answer}); check OPENAI_API_KEY.",
    ),
    _Problem.TOO_LONG: (
        RequestRejectedError,
        "Question and response are too long for model {model!r} ({answer}); shorten them, "
        "or set {setting} to one that reads more.",
    ),
    _Problem.RATE: (
        RateLimitedError,
        "The server at {server} limits the rate of requests ({answer}); wait, lower JUDGE_CONCURRENCY "
        "or JUDGE_SAMPLES, or raise JUDGE_TIMEOUT_S.",
    ),
    _Problem.UNAVAILABLE: (
        UnavailableError,
        "The model server at {server} fails ({answer}); try again later, or check OPENAI_BASE_URL.",
    ),
    _Problem.NO_COMPLETION: (
        BadResponseError,
        "The server at {server} answers, but not with a chat completion; "
        "check OPENAI_BASE_URL (it usually ends in /v1).",
    ),
    _Problem.REJECTED: (
        RequestRejectedError,
        "The server at {server} rejects the request ({answer}); check {setting}, OPENAI_BASE_URL and OPENAI_API_KEY.",
    ),
}
# OpenAI answers 403 to logprobs, and old servers 500 to an `n` that they do not know.
_OPTION_STATUSES = frozenset({400, 403, 422, 500, 501})
_OPTION_NAMES = {
    "n": r"""(?:^|[\s'"`\[(])n(?:['"`\])]|\s*[>=:]|\s(?:must|is|should|parameter)\b|$)|only one completion choice"""
}
# A limit on the answer that does not fit beside the prompt is complained of as a context that is too short.
_LIMIT = re.compile(
    r"\bmax_(?:completion_|new_|output_)?tokens\b|in the completion|(?:completion|output) tokens", re.IGNORECASE
)


def is_worth_retrying(error: openai.APIError) -> bool:
    """Whether the same request may succeed a moment later."""
    if isinstance(error, openai.APIStatusError):
        return _problem(error) in (_Problem.RATE, _Problem.UNAVAILABLE)
    return isinstance(error, openai.APIConnectionError)


def is_filtered(error: openai.APIError) -> bool:
    """Whether a content filter withheld the answer (Azure sends a 400): that is data, not a failure."""
    return isinstance(error, openai.APIStatusError) and _problem(error) is _Problem.FILTERED


def rejected_option(error: openai.APIError, options: Collection[str]) -> str | None:
    """The one of the parameters `options` that the server will not take; None where that is not it."""
    if not isinstance(error, openai.APIStatusError) or error.status_code not in _OPTION_STATUSES:
        return None
    words = all_words(error.body)
    for option in options:
        name = _OPTION_NAMES.get(option, rf"(?<!\w){option}(?!\w)")
        if re.search(name, words, re.IGNORECASE | re.MULTILINE):
            return option
    # Servers that know one name for the limit complain about the other one by that name.
    limits = [option for option in options if option.startswith("max_")]
    return limits[0] if limits and _LIMIT.search(words) else None


def retry_after_s(error: openai.APIError) -> float | None:
    """The wait that the server asks for, in seconds; None where it names none."""
    if not isinstance(error, openai.APIStatusError):
        return None
    for header, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = error.response.headers.get(header, "").strip()
        if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", value):
            return float(value) * unit_s
    return _until_s(error.response.headers.get("retry-after", ""))


def hidden_error(response: "httpx2.Response", body: object) -> openai.APIStatusError | None:
    """The error that came with status 200, as from OpenRouter and vLLM; None for anything else.

    Only an error that names an HTTP status counts: what else is no completion is a matter of the address.
    """
    if not isinstance(body, dict):
        return None
    choices = body.get("choices")
    places = [body, *(choices[:MOST_CHOICES] if isinstance(choices, list) else ())]
    details = [place.get("error") for place in places if isinstance(place, dict)]
    for detail in (body if body.get("object") == "error" else None, *details):
        code = detail.get("code") if isinstance(detail, dict) else None
        if isinstance(code, int | str) and re.fullmatch(r"[45]\d\d", str(code)):
            error = openai.APIStatusError(f"Error code: {code}", response=response, body=detail)
            error.status_code = int(code)
            return error
    return None


def to_judge_error(
    error: openai.OpenAIError, model: str, base_url: str, prompt: str, setting: str = "JUDGE_MODEL"
) -> JudgeError:
    """The `JudgeError` child for what the client raised: what the server says, and the setting to change.

    `prompt` is what was asked, which the message must not hold; `setting` is the one that names the model.
    """
    server = server_name(base_url)
    if isinstance(error, openai.APIConnectionError):
        return UnavailableError(
            f"The model server at {server} cannot be reached or drops the connection; "
            "check that it runs and that OPENAI_BASE_URL is right."
        )
    if not isinstance(error, openai.APIStatusError):
        return not_a_completion(base_url)
    if error.response.has_redirect_location:
        return _redirected(error.response, server)
    problem = _problem(error)
    child, sentence = _ERRORS.get(problem, _ERRORS[_Problem.REJECTED])
    failure = child(sentence.format(server=server, model=model, setting=setting, answer=_answer(error, prompt)))
    failure.is_too_long = problem is _Problem.TOO_LONG
    return failure


def not_a_completion(base_url: str) -> BadResponseError:
    """For an answer that came with status 200 and is not a chat completion."""
    _, sentence = _ERRORS[_Problem.NO_COMPLETION]
    return BadResponseError(sentence.format(server=server_name(base_url)))


def _answer(error: openai.APIStatusError, prompt: str) -> str:
    """Status, code and words of the server."""
    # Letters alone, since a server may put anything here, and keys have digits.
    code = f", {error.code}" if re.fullmatch(r"[a-z_]{3,40}", error.code or "") else ""
    said = quote(error, prompt)
    return f"HTTP {error.status_code}{code}" + (f': "{said}"' if said else "")


def _redirected(response: "httpx2.Response", server: str) -> BadResponseError:
    """For an answer that points elsewhere."""
    asked = str(response.request.url)
    target = origin(asked, response.headers["location"])
    if target == origin(asked):
        target = "another path of its own"
    return BadResponseError(
        f"The server at {server} redirects to {target or 'what is no address'}, and redirects are not followed, lest "
        "the texts go astray; set OPENAI_BASE_URL to the address that answers by itself (it usually ends in /v1)."
    )


def _problem(error: openai.APIStatusError) -> _Problem:
    status = error.status_code
    words = all_words(error.body)
    for problem, statuses, pattern in _WORDS:
        if status in statuses and re.search(pattern, words, re.IGNORECASE):
            return problem
    if status >= 500:
        return _Problem.UNAVAILABLE
    return _STATUSES.get(status, _Problem.REJECTED) if status >= 400 else _Problem.NO_COMPLETION


def _until_s(date: str) -> float | None:
    try:
        at = parsedate_to_datetime(date)
    except ValueError:
        return None
    aware = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
