"""Files: reads and writes lines of JSONL, and creates files that only their owner may read."""

import codecs
import errno
import json
import os
import shlex
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO

from judge.errors import SetupError

_OWNERS_ALONE = 0o600


class Format(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


def private(path: str, flags: int) -> int:
    """An `opener` for `open` that creates files readable only by their owner, whatever the umask."""
    return os.open(path, flags, _OWNERS_ALONE)


@contextmanager
def written_beside(target: Path) -> Iterator[BinaryIO]:
    """A file that replaces `target`, with the same readers, once it is written; a new `target` is
    its owner's alone.
    """
    is_open_file = target.is_symlink() and target.readlink().is_relative_to(
        "/proc"
    )  # as /dev/stdout does
    if is_open_file or (target.exists() and not (target.is_file() or target.is_dir())):
        raise OSError(
            errno.EINVAL, "Not a regular file"
        )  # a pipe or a device would be gone for everybody
    beside = target.with_name(f"{target.name}.part")
    try:
        beside.unlink(missing_ok=True)  # another user may have made it, to read what is written
        with open(beside, "xb", opener=private) as file:
            yield file
        mode = _OWNERS_ALONE
        # In a folder that all may write to, a link or another user's file may have been put there
        # on purpose.
        if not target.is_symlink() and target.exists() and target.stat().st_uid == os.geteuid():
            mode = stat.S_IMODE(target.stat().st_mode) & ~(stat.S_IWGRP | stat.S_IWOTH)
        beside.chmod(mode)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def explaining(failure: str, hint: str = "") -> Iterator[None]:
    """Makes an error that the system reports a SetupError: the failure, the system's reason, and
    the hint.
    """
    try:
        yield
    except OSError as exc:
        raise SetupError(f"{failure} ({os_reason(exc)}){hint}.") from exc


@contextmanager
def replacing(target: Path, failure: str = "", hint: str = "") -> Iterator[BinaryIO]:
    """`written_beside`, with its errors explained."""
    with explaining(failure or f"{target}: cannot write it", hint), written_beside(target) as file:
        yield file


_KINDS: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "true or false",
    type(None): "null",
}
_BLANK = codecs.BOM_UTF8 + b" \t\r\n\f\v"
_MOST_SHOWN = 40
_encoder = json.JSONEncoder(ensure_ascii=False)


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not blank, each with its number, from 1. Raises SetupError if it
    cannot be read, or is JSON over several lines.
    """
    check_is_file(path)
    is_first = True
    with explaining(f"{path}: cannot read it"), path.open("rb") as file:
        for line, raw in enumerate(file, start=1):
            text = raw.strip(_BLANK)
            if not text:
                continue
            if is_first and (text == b"{" or text.startswith(b"[")):
                _refuse_several_lines(path, "." if text == b"{" else ".[]")
            is_first = False
            yield line, raw


def _refuse_several_lines(path: Path, expression: str) -> None:
    raise SetupError(
        f"{path}: JSON, but not JSONL, which has one object a line: jq -c '{expression}' "
        f"{shlex.quote(str(path))} > rows.jsonl"
    )


def check_is_file(path: Path) -> None:
    """Raises SetupError unless `path` is a file that can be read repeatedly."""
    if os.path.isfile(path):
        return
    # A pipe can be read only once, but rows are read several times.
    if os.path.exists(path) or str(path) == "-":
        raise SetupError(f"{path}: not a plain file; save what comes through a pipe as one.")
    raise SetupError(f"{path}: no such file.")


def refuse_foreign(path: Path, mark: bytes, what: str, option: str) -> None:
    """Raises SetupError unless `path` is new or empty, or has `mark` near its beginning and so is
    ours to overwrite.
    """
    found = b""
    failure, hint = f"{path}: cannot write it", f"; name another file with {option}"
    with explaining(failure, hint), suppress(FileNotFoundError), path.open("rb") as file:
        found = file.read(256)
    if found and mark not in found:
        raise SetupError(f"{path}: not {what}, and would be overwritten{hint}.")


def decode(raw: bytes) -> dict[str, Any]:
    """The JSON object on a line, also with NaN and Infinity.

    Raises ValueError; its message completes "line 17: ".
    """
    try:
        value = json.loads(raw.decode().removeprefix("\ufeff"))
    except UnicodeDecodeError as exc:
        raise ValueError(f"not UTF-8 at byte {exc.start + 1}") from exc
    except json.JSONDecodeError as exc:
        raise ValueError(
            f"not JSON ({exc.msg[:1].lower()}{exc.msg[1:]} at character {exc.pos + 1})"
        ) from exc
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc
    if not isinstance(value, dict):
        raise ValueError(f"{kind_of(value)} where an object belongs")
    return value


def encode(value: object) -> str:
    """JSON as UTF-8; only half a surrogate pair makes it escape."""
    text = _encoder.encode(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def shown(value: object) -> str:
    text = encode(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def os_reason(exc: OSError) -> str:
    return (exc.strerror or type(exc).__name__).lower()


def kind_of(value: object) -> str:
    return _KINDS.get(type(value), "a number")


def listed(names: Collection[str]) -> str:
    first = list(names)[:10]
    more = list(names)[10:]
    return ", ".join(first)[:200] + (f" and {len(more):,} more" if more else "")
