"""Turns what the `openai` package raises into a `JudgeError` subclass, and says whether asking
again may help.

Servers agree on status codes at best, so their words are read if the code is not enough;
tests/server_profiles.py has what each server sends, with its source. `quote` prepares these words
for a message, without the key and the judged texts.
"""

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

from judge.errors import (
    BadResponseError,
    JudgeError,
    KeyRejectedError,
    ModelNotFoundError,
    QuotaExceededError,
    RateLimitedError,
    RequestRejectedError,
    SetupError,
    UnavailableError,
)
from judge.scoring.model.addresses import CHAT, OPENAI_URL
from judge.scoring.sanitize import one_line, sanitize

_Problem = Enum(
    "_Problem",
    "FILTERED QUOTA MODEL KEY TOO_LONG RATE UNAVAILABLE NO_DECISIONS REDIRECTED NO_COMPLETION "
    "REJECTED",
)

# Words that identify a problem before the status does, if that is below 500; the first pattern that
# matches counts.
_WORDS = {
    _Problem.FILTERED: r"content_filter|content_?policy_?violation|content management policy"
    r"|responsibleaipolicyviolation|(?:input|prompt) was "
    r"flagged|invalid_prompt|data_inspection_failed"
    r"|content exists risk",
    _Problem.QUOTA: r"insufficient_(?:user_)?quota|insufficient "
    r"(?:credits|balance)|billing_hard_limit_reached"
    r"|billing_not_active|credit[_ ]balance|budget_exceeded|exceeded "
    r"?(?:token)?budget|budget has been exceeded"
    r"|crossed budget",
    _Problem.MODEL: r"model_not_found|model_access_denied|deploymentnotfound|invalid model|not a valid "
    r"model"
    r"|model not exist|access to model|\bmodel\b.{0,100}(?:does not exist|not found)",
    # LiteLLM without a database cannot look up a key other than its own
    _Problem.KEY: r"(?:invalid|incorrect)[ _]api[ _]key|api[ _]key[ _](?:not valid|invalid)|no connected "
    r"db"
    r"|no_db_connection",
    _Problem.TOO_LONG: r"context[ _]?(?:length|size|window|limit)|too many tokens|prompt is too long|input "
    r"token count"
    r"|max_new_tokens` must be|string_above_max_length",
}
_STATUSES = dict.fromkeys((401, 403), _Problem.KEY) | dict.fromkeys(
    (408, 409, 425), _Problem.UNAVAILABLE
)
_STATUSES |= {402: _Problem.QUOTA, 404: _Problem.MODEL, 413: _Problem.TOO_LONG, 429: _Problem.RATE}
_ERRORS: dict[_Problem, tuple[type[JudgeError], str]] = {
    _Problem.QUOTA: (
        QuotaExceededError,
        (
            "The account behind OPENAI_API_KEY is out of quota at {server} ({answer}); add "
            "credit or use another key."
        ),
    ),
    _Problem.MODEL: (
        ModelNotFoundError,
        "The server at {server} has no model {model!r} ({answer}); check JUDGE_MODEL, and "
        "OPENAI_BASE_URL (it usually ends in /v1).",
    ),
    _Problem.KEY: (
        KeyRejectedError,
        "The server at {server} refuses the key ({answer}); check OPENAI_API_KEY.",
    ),
    _Problem.TOO_LONG: (
        RequestRejectedError,
        "Question and response are too long for model {model!r} ({answer}); shorten them, "
        "or set JUDGE_MODEL to one that reads more.",
    ),
    _Problem.RATE: (
        RateLimitedError,
        "The server at {server} limits the rate of requests ({answer}); wait, lower "
        "JUDGE_CONCURRENCY or JUDGE_SAMPLES, raise JUDGE_TIMEOUT_S, or leave out the tier.",
    ),
    _Problem.NO_DECISIONS: (
        SetupError,
        "The server at {server} has no decisions with model {model!r} ({answer}); "
        "JUDGE_ASK=distribution does the same with log probabilities.",
    ),
    _Problem.UNAVAILABLE: (
        UnavailableError,
        "The model server at {server} fails ({answer}); try again later, or check OPENAI_BASE_URL.",
    ),
    _Problem.REDIRECTED: (
        BadResponseError,
        "The server at {server} redirects, and redirects are not followed, so that texts go to no "
        "other server; set OPENAI_BASE_URL to the final address (it usually ends in /v1).",
    ),
    _Problem.NO_COMPLETION: (
        BadResponseError,
        "The server at {server} answers, but not with a chat completion; "
        "check OPENAI_BASE_URL (it usually ends in /v1).",
    ),
    _Problem.REJECTED: (
        RequestRejectedError,
        "The server at {server} rejects the request ({answer}); check JUDGE_MODEL, "
        "OPENAI_BASE_URL and OPENAI_API_KEY, and JUDGE_TIER and JUDGE_OPTIONS if they are set.",
    ),
}
# OpenAI answers 403 to logprobs, and old servers answer 500 to an `n` that they do not know.
_OPTION_STATUSES = frozenset({400, 403, 422, 500, 501})
_N = r"""(?:^|[\s'"`\[(])n(?:['"`\])]|\s*[>=:]|\s(?:must|is|should|parameter)\b|$)|only one completion choice"""
# If the prompt and the answer's limit together exceed the context, servers report a context that is
# too short.
_LIMIT = re.compile(
    r"\bmax_(?:completion_|new_|output_)?tokens\b|in the completion|(?:completion|output) tokens",
    re.IGNORECASE,
)


def is_worth_retrying(error: openai.APIError) -> bool:
    if isinstance(error, openai.APIStatusError):
        return _problem(error) in (_Problem.RATE, _Problem.UNAVAILABLE)
    return isinstance(error, openai.APIConnectionError)


def is_filtered(error: openai.APIError) -> bool:
    """Whether a content filter withheld the answer (Azure sends a 400), which is data, not a
    failure.
    """
    return isinstance(error, openai.APIStatusError) and _problem(error) is _Problem.FILTERED


def rejected_option(error: openai.APIError, options: Collection[str]) -> str | None:
    """The parameter among `options` that the server rejects; None if the error has another cause."""
    if not isinstance(error, openai.APIStatusError) or error.status_code not in _OPTION_STATUSES:
        return None
    words = all_words(error.body)
    for option in options:
        name = _N if option == "n" else rf"(?<!\w){option}(?!\w)"
        if re.search(name, words, re.IGNORECASE | re.MULTILINE):
            return option
    # A server that knows only one name for the limit uses that name in its error about the other.
    limits = [option for option in options if option.startswith("max_")]
    return limits[0] if limits and _LIMIT.search(words) else None


def retry_after_s(error: openai.APIError) -> float | None:
    """The wait that the server asks for, in seconds; None if it names none."""
    if not isinstance(error, openai.APIStatusError):
        return None
    for header, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = error.response.headers.get(header, "").strip()
        if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", value):
            return float(value) * unit_s
    return None


def hidden_error(response: httpx2.Response, body: object) -> openai.APIStatusError | None:
    """The error that came with status 200, as from OpenRouter and vLLM; None for anything else.

    Only an error that names an HTTP status counts; anything else that is not a completion points to
    a wrong address.
    """
    if not isinstance(body, dict):
        return None
    choices = body.get("choices")
    places = [body, *(choices if isinstance(choices, list) else ())]
    details = [place.get("error") for place in places if isinstance(place, dict)]
    for detail in (body if body.get("object") == "error" else None, *details):
        code = detail.get("code") if isinstance(detail, dict) else None
        if isinstance(code, int | str) and re.fullmatch(r"[45]\d\d", str(code)):
            error = openai.APIStatusError(f"Error code: {code}", response=response, body=detail)
            error.status_code = int(code)
            return error
    return None


def to_judge_error(
    error: openai.OpenAIError,
    model: str,
    base_url: str,
    prompt: str,
    path: str = CHAT,
) -> JudgeError:
    """The `JudgeError` subclass for what the client raised, with the server's words and the setting
    to change.

    `prompt` is the text that was sent, which the message must not contain.
    """
    server = server_name(base_url)
    if isinstance(error, openai.APIConnectionError):
        what = (
            "your network"
            if base_url.rstrip("/") == OPENAI_URL
            else "that it runs and OPENAI_BASE_URL is right"
        )
        return UnavailableError(
            f"The model server at {server} cannot be reached or drops the connection; check {what}."
        )
    if not isinstance(error, openai.APIStatusError):
        return not_a_completion(base_url)
    problem = _problem(error)
    if path != CHAT and _lacks_decisions(error):
        problem = _Problem.NO_DECISIONS
    child, sentence = _ERRORS.get(problem, _ERRORS[_Problem.REJECTED])
    failure = child(sentence.format(server=server, model=model, answer=_answer_of(error, prompt)))
    failure.is_too_long = problem is _Problem.TOO_LONG
    return failure


def _answer_of(error: openai.APIStatusError, prompt: str) -> str:
    # Only letters, because a server may put anything here, and keys have digits.
    code = f", {error.code}" if re.fullmatch(r"[a-z_]{3,40}", error.code or "") else ""
    said = quote(error, prompt)
    return f"HTTP {error.status_code}{code}" + (f': "{said}"' if said else "")


def not_a_completion(base_url: str) -> BadResponseError:
    _, sentence = _ERRORS[_Problem.NO_COMPLETION]
    return BadResponseError(sentence.format(server=server_name(base_url)))


def _problem(error: openai.APIStatusError) -> _Problem:
    status = error.status_code
    if problem := _named_problem(error):
        return problem
    if status >= 500:
        return _Problem.UNAVAILABLE
    if status >= 400:
        return _STATUSES.get(status, _Problem.REJECTED)
    is_redirect = error.response.has_redirect_location
    return _Problem.REDIRECTED if is_redirect else _Problem.NO_COMPLETION


def _named_problem(error: openai.APIStatusError) -> _Problem | None:
    words = all_words(error.body)
    for problem, pattern in _WORDS.items():
        # Some gateways report these two as failures of their own.
        end = 600 if problem in (_Problem.QUOTA, _Problem.TOO_LONG) else 500
        if 400 <= error.status_code < end and re.search(pattern, words, re.IGNORECASE):
            return problem
    return None


def _lacks_decisions(error: openai.APIStatusError) -> bool:
    if error.status_code in (404, 405, 501):
        return _named_problem(error) is not _Problem.MODEL
    words = all_words(error.body).lower()
    return error.status_code == 400 and ("not supported" in words or "unsupported" in words)


def server_name(base_url: str) -> str:
    parts = urlsplit(base_url)
    return f"{parts.hostname or 'unknown'}{f':{parts.port}' if parts.port else ''}"


_MOST_WORDS, _MOST_QUOTED, _MOST_READ = 20_000, 200, 2_000
# The fields with a server's sentence; other fields, such as `input`, repeat the request.
_SENTENCES = ("message", "msg", "detail", "error")
_SECRET_HEADERS = re.compile("auth|key|token|secret|cookie")
# What looks like a key, masked or not and of any account; and escapes, which may hide anything.
_LOOKS_SECRET = re.compile(
    r"\bsk-|\w(?:\*{2,}|\.{2,}|…)\w|\*{3}"
    r"|(?<![\w+/=-])(?=[\w+/=-]{20})(?=\S*\d)(?=\S*[a-z])|\\[ux][0-9a-f]{2}",
    re.IGNORECASE,
)
_PIECE, _SHORTEST_KEY = 6, 4  # characters that count as a piece of a key, and as a whole key
_RUN = 3  # words in a row that count as a piece of a text
_TEXTS = re.compile(r"<(question|response)>((?:(?!<\1>).)*?)</\1>", re.DOTALL)
_WORD = re.compile(r"[A-Za-z0-9]+|[^\W_]")
_ESCAPED_BLANK = re.compile(r"(?<!\\)\\+[nrt]")
_GAP = "…"


def all_words(body: object) -> str:
    """All texts in an error's body, one per line; none for an HTML page, which may contain any
    words.
    """
    if isinstance(body, str) and _is_page(body):
        return ""
    return "\n".join(_texts(body))[:_MOST_WORDS]


def _is_page(text: str) -> bool:
    return text.lstrip().startswith("<")


def quote(error: "openai.APIStatusError", prompt: str) -> str:
    """What the server says, for use in quotation marks; "" if nothing is left of it, or if
    it quotes the prompt.

    Words that look like a key, or share a piece with a key that was sent, are left out.
    """
    sentences = (text for text in _texts(error.body, _SENTENCES) if not _is_page(text))
    first = next((text for text in sentences if text.strip()), "")
    said = _ESCAPED_BLANK.sub(" ", first[:_MOST_READ]).replace('"', "'")
    clean = _without_keys(sanitize(said), error.request.headers)
    if not re.search(r"\w", clean) or _quotes(clean, prompt):
        return ""
    return one_line(clean, _MOST_QUOTED)


def _without_keys(said: str, headers: Mapping[str, str]) -> str:
    """What was said, on one line, with a gap for each word that may be of a key."""
    pieces = _pieces_of_keys(headers)
    words = []
    for word in said.split():
        is_secret = _LOOKS_SECRET.search(word) or any(piece in word.casefold() for piece in pieces)
        words.append(_GAP if is_secret else word)
    return " ".join(words)


def _pieces_of_keys(headers: Mapping[str, str]) -> set[str]:
    """The parts of keys that were sent, since a server may repeat one in part."""
    pieces = set[str]()
    for name, value in headers.items():
        if _SECRET_HEADERS.search(name):
            key = value.casefold().rpartition(" ")[2]  # after "Bearer"
            if len(key) >= _SHORTEST_KEY:
                starts = range(max(1, len(key) - _PIECE + 1))
                pieces.update(key[at : at + _PIECE] for at in starts)
    return pieces


def _texts(body: Any, fields: Sequence[str] | None = None) -> Iterator[str]:
    """All texts in an error's body, or those in these `fields` of it, the outermost first."""
    pending = deque([body])
    while pending:
        part = pending.popleft()
        if isinstance(part, str):
            yield part
        elif isinstance(part, list):
            pending += part
        elif isinstance(part, dict):
            # FastAPI repeats the request, and so the judged texts, as `input`.
            pending += [part[name] for name in fields or part if name in part and name != "input"]


def _quotes(said: str, prompt: str) -> bool:
    """Whether three words in a row are from the prompt, or all words of a shorter text in it."""
    spoken = _words(said)
    for text in (prompt, *(match[2] for match in _TEXTS.finditer(prompt))):
        words = _words(text)
        length = min(_RUN, len(words))
        # "between <question> and </question>" are the prompt's own words.
        is_text = words not in ([], ["and"])
        if is_text and not _runs(words, length).isdisjoint(_runs(spoken, length)):
            return True
    return False


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _runs(words: Sequence[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}
