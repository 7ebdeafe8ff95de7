"""What a server says when it fails: all of it, to be understood; and so much as a message of ours may quote."""

import re
from collections import deque
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from judge.legible import legible

if TYPE_CHECKING:
    import openai

_MOST_WORDS, _MOST_PARTS = 20_000, 10_000
_MOST_QUOTED, _MOST_READ = 200, 2_000
# Where servers put their sentence; `input` and the like repeat the request.
_SENTENCES = ("message", "msg", "detail", "error")
_SECRET_HEADERS = re.compile("auth|key|token|secret|cookie")
# Keys by their looks, also masked ones, whoever's they are; and escapes, behind which anything may stand.
_LOOKS_SECRET = re.compile(
    r"\bsk-|\w(?:\*{2,}|\.{2,}|…)\w|\*{3}|(?=\S*\d)(?=\S*[a-z])[\w+/=-]{20,}|\\[ux][0-9a-f]{2}", re.IGNORECASE
)
_PIECE, _SHORTEST_KEY = 6, 4  # so much of a key is a piece of it, or the whole
_RUN = 3  # so many words in a row are a piece of a text
_WORD = re.compile(r"[A-Za-z0-9]+|[^\W_]")
_ESCAPED_BLANK = re.compile(r"\\+[nrt]")
_TEXTS = re.compile(r"<(question|response)>(.*?)</\1>", re.DOTALL)
_GAP = "…"


def all_words(body: object) -> str:
    """All texts in an error's body, one per line; none of a page of HTML, which speaks of anything."""
    is_page = isinstance(body, str) and body.lstrip().startswith("<")
    return "" if is_page else "\n".join(_texts(body))[:_MOST_WORDS]


def quote(error: "openai.APIStatusError", prompt: str) -> str:
    """What the server says, to stand in quotation marks; "" where nothing is left of it.

    Words that look like a key, or share a piece with one that was sent, are left out, and so is what stands in the
    prompt: three words in a row, or a whole text that is shorter.
    """
    said = _ESCAPED_BLANK.sub(" ", next(_sentences(error.body), "")[:_MOST_READ]).replace('"', "'")
    keys = _keys(error)
    words = [_GAP if _is_secret(word, keys) else word for word in legible(said).split()]
    clean = re.sub(rf"{_GAP}(?:\W*{_GAP})+", _GAP, _without(" ".join(words), prompt))
    if not re.search(r"\w", clean):
        return ""
    return clean if len(clean) <= _MOST_QUOTED else f"{clean[:_MOST_QUOTED].rpartition(' ')[0]} {_GAP}"


def _texts(body: Any) -> Iterator[str]:
    pending = [body]
    for _ in range(_MOST_PARTS):
        if not pending:
            return
        part = pending.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, list):
            pending += part
        elif isinstance(part, dict):
            # FastAPI repeats the request, and so the judged texts, as `input`.
            pending += [value for key, value in part.items() if key != "input"]


def _sentences(body: Any) -> Iterator[str]:
    """The sentences of an error's body, the outermost first; none of a page of HTML."""
    pending = deque([body])
    for _ in range(_MOST_PARTS):
        if not pending:
            return
        part = pending.popleft()
        if isinstance(part, str) and part.strip() and not part.lstrip().startswith("<"):
            yield part
        elif isinstance(part, list):
            pending += part
        elif isinstance(part, dict):
            pending += [part[name] for name in _SENTENCES if name in part]


def _keys(error: "openai.APIStatusError") -> Collection[str]:
    """What the request proved itself by."""
    secret = (value for name, value in error.request.headers.items() if _SECRET_HEADERS.search(name))
    return [key for value in secret for key in value.casefold().split()[-1:] if len(key) >= _SHORTEST_KEY]


def _is_secret(word: str, keys: Collection[str]) -> bool:
    word = word.casefold()
    pieces = (key[at : at + _PIECE] for key in keys for at in range(max(1, len(key) - _PIECE + 1)))
    return _LOOKS_SECRET.search(word) is not None or any(piece in word for piece in pieces)


def _without(said: str, prompt: str) -> str:
    """`said` with a gap for each run of words that stands in the prompt, too."""
    found = list(_WORD.finditer(said))
    words = tuple(match[0].lower() for match in found)
    hidden: set[int] = set()
    for text in (prompt, *(match[2] for match in _TEXTS.finditer(prompt))):
        known = [word.lower() for word in _WORD.findall(text)]
        length = min(_RUN, len(known))
        runs = set(zip(*(known[at:] for at in range(length)), strict=False))
        for at in range(len(words) - length + 1):
            if words[at : at + length] in runs:
                hidden.update(range(at, at + length))
    for at in sorted(hidden, reverse=True):
        said = said[: found[at].start()] + _GAP + said[found[at].end() :]
    return said
