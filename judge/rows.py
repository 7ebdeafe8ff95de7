"""Rows of JSONL: what a batch reads, and the fields that it adds."""

import codecs
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from judge.errors import SetupError
from judge.ratings import Rating, Result, Verdict

ADDED: Mapping[str, type] = {
    "line": int,
    "status": str,
    "score": int,
    "mean": float,
    "spread": int,
    "justification": str,
    "unscored_reason": str,
    "unscored_detail": str,
    "basis": str,
    "ratings": list,
    "weighted_score": float,
    "flags": list,
    "model": str,
    "rubric": str,
    "rubric_version": str,
    "samples": int,
    "input_tokens": int,
    "output_tokens": int,
    "latency_ms": int,
    "cost_usd": float,
}
"""The fields that a batch adds, and their types where they are not null. `line` stands first in a row."""

PROMPT = ("prompt", "question")
COMPLETION = ("completion", "response")

_OWN_NAME = re.compile(rf"(?:input_)*(?:{'|'.join(ADDED)})")
_KINDS: Mapping[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "true or false",
    type(None): "null",
}
_BLANK = codecs.BOM_UTF8 + b" \t\r\n\f\v"
_encoder = json.JSONEncoder(ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Row:
    """A question and a response to judge, from line `line` (from 1); `carried` are all its fields, as JSON."""

    line: int
    question: str
    response: str
    carried: str


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that is no row, and why."""

    line: int
    why: str


Item: TypeAlias = Row | Malformed


def read_lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """The lines of a file that are not blank, each with its number, from 1, and the byte where it starts, from 0.

    Raises:
        SetupError: The file cannot be read.
    """
    # A pipe would be read once only, and rows are looked at again by the next run.
    if not os.path.isfile(path):
        raise SetupError(f"{path}: {'not a plain file' if os.path.exists(path) else 'no such file'}.")
    try:
        with path.open("rb") as file:
            start = 0
            for line, raw in enumerate(file, start=1):
                if raw.strip(_BLANK):
                    yield line, start, raw
                start += len(raw)
    except OSError as exc:
        raise SetupError(f"{path}: cannot read it ({os_reason(exc)}).") from exc


def count_lines(path: Path) -> tuple[int, int]:
    """The number of the last line of a file that is not blank, and how many of them there are."""
    last = rows = 0
    for line, _, _ in read_lines(path):
        last, rows = line, rows + 1
    return last, rows


def read_rows(path: Path, is_done: Callable[[int], bool], limit: int | None = None) -> Iterator[Item]:
    """The first `limit` rows of a file, without those whose line `is_done`."""
    for line, _, raw in islice(read_lines(path), limit):
        if not is_done(line):
            yield parse_row(line, raw)


def parse_row(line: int, raw: bytes) -> Item:
    """The row on a line. Fields that have the name of an added one are carried as `input_...`."""
    try:
        fields = decode(raw)
        question, response = text_of(fields, PROMPT), text_of(fields, COMPLETION)
        carried = encode({_carried_name(name): value for name, value in fields.items()})
    except ValueError as exc:
        return Malformed(line, str(exc))
    return Row(line, question, response, carried)


def to_line(row: Row, added: Mapping[str, Any]) -> bytes:
    """The row with the fields that a verdict adds, as a line of JSONL."""
    return f'{{"line": {row.line}, {row.carried[1:-1]}, {encode(added)[1:-1]}}}\n'.encode()


def to_added(verdict: Verdict, samples: int) -> dict[str, Any]:
    """The fields that a verdict adds to its row, all but `line`."""
    return {
        "status": "scored" if verdict.is_scored else "unscored",
        "score": verdict.score,
        "mean": verdict.mean,
        "spread": verdict.spread,
        "justification": verdict.justification,
        "unscored_reason": verdict.unscored.reason if verdict.unscored else None,
        "unscored_detail": verdict.unscored.detail if verdict.unscored else None,
        "basis": verdict.basis,
        "ratings": [_to_fields(rating) for rating in verdict.ratings],
        "weighted_score": verdict.weighted_score,
        "flags": list(verdict.flags),
        "model": verdict.model,
        "rubric": verdict.rubric,
        "rubric_version": verdict.rubric_version,
        "samples": samples,
        "input_tokens": verdict.input_tokens,
        "output_tokens": verdict.output_tokens,
        "latency_ms": verdict.latency_ms,
        "cost_usd": verdict.cost_usd,
    }


def _to_fields(rating: Result) -> dict[str, Any]:
    """What a row keeps of one rating: without its texts, which would make the file many times as long."""
    if isinstance(rating, Rating):
        return {"model": rating.model, "score": rating.score, "unscored_reason": None}
    return {"model": rating.model, "score": None, "unscored_reason": rating.reason}


def decode(raw: bytes) -> dict[str, Any]:
    """The object on a line; NaN and Infinity, which Python writes, are read.

    Raises:
        ValueError: It is not one; the message completes "line 17: ".
    """
    try:
        value = _decoder.decode(raw.decode().removeprefix("\ufeff"))
    except UnicodeDecodeError as exc:
        raise ValueError(f"not UTF-8 at byte {exc.start + 1}") from exc
    except json.JSONDecodeError as exc:
        raise ValueError(f"not JSON ({exc.msg[:1].lower()}{exc.msg[1:]} at character {exc.pos + 1})") from exc
    except KeyError as exc:
        raise ValueError(f"the name {exc.args[0]!r} stands twice") from exc
    except OverflowError as exc:
        raise ValueError("a number too large to be carried") from exc
    except ValueError as exc:  # int() reads 4300 digits at most
        raise ValueError("a number with too many digits") from exc
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc
    if not isinstance(value, dict):
        raise ValueError(f"{_kind(value)} where an object belongs")
    return value


def encode(value: object) -> str:
    """JSON that can be written as UTF-8; characters are escaped only where one is half a surrogate pair.

    Raises:
        ValueError: It is nested too deeply.
    """
    try:
        text = _encoder.encode(value)
        text.encode()
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def text_of(fields: Mapping[str, Any], names: tuple[str, str]) -> str:
    """The text under either of two names.

    Raises:
        ValueError: Under neither, no string, or a different one under each.
    """
    given = {name: fields[name] for name in names if fields.get(name) is not None}
    if not given:
        raise ValueError(f"no {names[0]} (nor {names[1]})")
    for name, text in given.items():
        if not isinstance(text, str):
            hint = "; join a conversation into one" if isinstance(text, list) else ""
            raise ValueError(f"{name} is {_kind(text)} where a string belongs{hint}")
        if not _is_unicode(text):
            raise ValueError(f"{name} holds half a surrogate pair, which is no Unicode text")
    if len(set(given.values())) > 1:
        raise ValueError(f"{names[0]} and {names[1]} differ; leave one out")
    return str(next(iter(given.values())))


def os_reason(exc: OSError) -> str:
    """What the system says, as part of a sentence."""
    return (exc.strerror or type(exc).__name__).lower()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise KeyError(next(name for name in names if names.count(name) > 1))
    return fields


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise OverflowError(text)
    return value


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_float=_finite)


@lru_cache(maxsize=1024)
def _carried_name(name: str) -> str:
    """One `input_` more for every name that ends up like ours, so that no two of them meet."""
    return f"input_{name}" if _OWN_NAME.fullmatch(name) else name


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")
