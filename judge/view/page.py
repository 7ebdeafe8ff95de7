"""The page: template, style, script and data in one file that asks nobody for anything."""

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from judge.errors import SetupError
from judge.files import private_and_new, put_in_place
from judge.jsonl import encode, os_reason, refuse_foreign
from judge.view.figures import is_by_day, scale_of, to_bar, to_figures, to_trend
from judge.view.reading import Replies
from judge.view.replies import Reply, Version, clear_difference

_MARK = b"<!doctype html>\n<!-- a page of slack-judge -->\n"
_SLOT = re.compile(r"\{\{(\w+)\}\}")
# `<` could end the script element, or begin a comment in it; the others end a line where JSON is read as JavaScript.
_ESCAPED = {ord(each): f"\\u{ord(each):04x}" for each in "<\u2028\u2029"}
_MOST_MIB = 256


def save_page(path: Path, title: str, replies: Replies) -> int:
    """Writes the page, for its owner alone, and gives its size in bytes.

    Raises:
        SetupError: It cannot be written, something else has its name, or it would be too large for a browser.
    """
    refuse_foreign(path, _MARK, "a page of slack-judge", "-o")
    beside = path.with_name(f"{path.name}.part")
    size = 0
    try:
        with open(beside, "wb", opener=private_and_new) as file:
            for part in _parts(title, replies):
                size += file.write(part.encode())
                if size > _MOST_MIB * 2**20:
                    raise SetupError(
                        f"{path}: the page would be larger than {_MOST_MIB} MiB, which browsers do not open; show "
                        "fewer replies."
                    )
        put_in_place(beside, path)
    except OSError as exc:
        raise SetupError(f"{path}: cannot write it ({os_reason(exc)}); name another file with -o.") from exc
    finally:
        beside.unlink(missing_ok=True)
    return size


def _parts(title: str, replies: Replies) -> Iterator[str]:
    style, script = _resource("page.css"), _resource("page.js")
    fixed = {
        "style": style,
        "script": script,
        "style_hash": _hash(style),
        "script_hash": _hash(script),
        "title": escape(title),
    }
    yield _MARK.decode()
    # A slot is filled once, and what fills it is not looked at again: a text may hold what looks like a slot.
    for number, part in enumerate(_SLOT.split(_resource("page.html"))):
        if number % 2 == 0:
            yield part
        elif part == "data":
            yield from _data(title, replies)
        else:
            yield fixed[part]


def _resource(name: str) -> str:
    return (files("judge.view") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _data(title: str, replies: Replies) -> Iterator[str]:
    """The JSON that the script reads, reply by reply."""
    groups: dict[Version, list[Reply]] = {}
    for reply in replies.replies:
        groups.setdefault(reply.version, []).append(reply)
    by_day = is_by_day(replies.replies)
    head = {
        "title": title,
        "left_out": replies.left_out,
        "unit": "day" if by_day else "week",
        "versions": [_version(each, by_day) for each in groups.values()],
    }
    numbers = {version: number for number, version in enumerate(groups)}
    yield _to_json(head)[:-1] + ', "replies": [\n'
    for number, reply in enumerate(replies.replies):
        yield (",\n" if number else "") + _to_json(_fields(reply, numbers[reply.version]))
    yield "\n]}"


def _version(replies: Sequence[Reply], by_day: bool) -> dict[str, Any]:
    scale = scale_of(replies)
    return {
        "name": replies[0].version.name,
        "scale": list(scale),
        "differs": clear_difference(scale),
        **to_figures(replies),
        "trend": to_trend(replies, by_day),
    }


def _fields(reply: Reply, version: int) -> dict[str, Any]:
    """A reply as the script reads it; what is empty is left out."""
    fields = {
        "name": reply.name,
        "version": version,
        "score": reply.score,
        "bar": to_bar(reply),
        "question": reply.question,
        "response": reply.response,
        "justification": reply.justification,
        "unscored": reply.unscored,
        "ratings": [each._asdict() for each in reply.ratings],
        "labels": [{"score": each.score, "blind": each.is_blind, "reason": each.reason} for each in reply.labels],
        "miss": reply.miss,
        "differs": reply.differs,
        "flags": reply.flags,
        "facts": reply.facts,
    }
    return {name: value for name, value in fields.items() if value or (value == 0 and value is not False)}


def _to_json(value: object) -> str:
    return encode(value).translate(_ESCAPED)
