"""Files: lines of JSONL as fields and back, and files that their owner alone may read."""

import codecs
import json
import math
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO

from judge.errors import SetupError

_OWNERS_ALONE = 0o600


class InputFormat(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"


class Format(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


def private(path: str, flags: int) -> int:
    """An `opener` for `open`: a file that it makes is its owner's alone, whatever the umask."""
    return os.open(path, flags, _OWNERS_ALONE)


def lock(file: BinaryIO, path: Path, otherwise: str = "choose another output") -> None:
    """Keeps the file to this process for as long as that lives; `otherwise` is what to do rather than wait.

    Raises:
        SetupError: Another process has it.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Before we had the lock, another process may have put a sorted file in the place of the one we opened.
        is_ours = os.path.samestat(os.fstat(file.fileno()), path.stat())
    except BlockingIOError:
        is_ours = False
    except OSError:  # a file system without locks
        return
    if not is_ours:
        raise SetupError(f"{path}: another process is writing it; wait for its end, or {otherwise}.")


def private_and_new(path: str, flags: int) -> int:
    """The same for a file beside another, in place of whatever has its name: one of a run that was killed, or a link.

    Others may have made those; what is written there would be theirs to read, or go elsewhere.
    """
    Path(path).unlink(missing_ok=True)
    return private(path, flags | os.O_EXCL)


def put_in_place(beside: Path, target: Path) -> None:
    """Puts a file into the place of `target`. It may be read by whom its owner has let read it, else by them alone."""
    beside.chmod(_kept_mode(target))
    beside.replace(target)


def _kept_mode(target: Path) -> int:
    # What is a link, or another's, may have been put there by somebody else, in a folder that all may write to.
    if target.is_symlink() or not target.exists() or target.stat().st_uid != os.geteuid():
        return _OWNERS_ALONE
    return stat.S_IMODE(target.stat().st_mode) & ~(stat.S_IWGRP | stat.S_IWOTH)


@contextmanager
def written_beside(target: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `target` once it is written, and leaves no trace where that fails."""
    beside = target.with_name(f"{target.name}.part")
    try:
        with open(beside, "wb", opener=private_and_new) as file:
            yield file
        put_in_place(beside, target)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def replacing(target: Path, failure: str) -> Iterator[BinaryIO]:
    """`written_beside`, with a sentence for what goes wrong.

    Raises:
        SetupError: The system refuses; `failure` is the sentence, with {reason} for why.
    """
    try:
        with written_beside(target) as file:
            yield file
    except OSError as exc:
        raise SetupError(failure.replace("{reason}", os_reason(exc))) from exc


_KINDS: Mapping[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "true or false",
    type(None): "null",
}
MOST_OF_A_LINE = 10_000_000
"""Bytes of a line of JSONL, and characters of a line or a cell of CSV: no texts to judge are near it."""

_BLANK = codecs.BOM_UTF8 + b" \t\r\n\f\v"
_BEGINNING = 256
_MOST_SHOWN = 40
_encoder = json.JSONEncoder(ensure_ascii=False)


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not blank, each with its number, from 1.

    Of a line that is too long beginning and end are given, which `decode` refuses.

    Raises:
        SetupError: The file cannot be read.
    """
    check_is_file(path)
    try:
        with path.open("rb") as file:
            for line, raw in enumerate(iter(lambda: read_line(file), b""), start=1):
                if raw.strip(_BLANK):
                    yield line, raw
    except OSError as exc:
        raise SetupError(f"{path}: cannot read it ({os_reason(exc)}).") from exc


def read_line(file: BinaryIO) -> bytes:
    """The next line; of one with more than `MOST_OF_A_LINE` bytes, its beginning and its end, which are still more."""
    raw, rest = file.readline(MOST_OF_A_LINE + 1), b""
    while len(rest or raw) > MOST_OF_A_LINE and not (rest or raw).endswith(b"\n"):
        rest = file.readline(MOST_OF_A_LINE + 1) or b"\n"
    return raw + rest


def check_is_file(path: Path) -> None:
    """Nothing, where `path` is a file that can be read again and again.

    Raises:
        SetupError: It is something else, or not there.
    """
    if os.path.isfile(path):
        return
    if os.path.isdir(path):
        raise SetupError(f"{path}: not a plain file but a folder; name a file in it.")
    # A pipe would be read once only, and rows are looked at again by the next run.
    if os.path.exists(path) or str(path) == "-":
        raise SetupError(
            f"{path}: not a plain file; save what comes through a pipe as one, since it is read repeatedly."
        )
    raise SetupError(f"{path}: no such file.")


def refuse_foreign(path: Path, mark: bytes, what: str, option: str) -> None:
    """Nothing, where no file is there, or one that has `mark` near its beginning, and so is ours to write anew.

    Raises:
        SetupError: Something else has its name, or it cannot be read.
    """
    try:
        with path.open("rb") as file:
            is_ours = mark in file.read(_BEGINNING)
    except FileNotFoundError:
        return
    except OSError as exc:
        raise SetupError(f"{path}: cannot write it ({os_reason(exc)}); name another file with {option}.") from exc
    if not is_ours:
        raise SetupError(f"{path}: not {what}, and would be overwritten; name another file with {option}.")


def decode(raw: bytes) -> dict[str, Any]:
    """The object on a line; NaN and Infinity, which Python writes, are read.

    Raises:
        ValueError: It is not one; the message completes "line 17: ".
    """
    if len(raw) > MOST_OF_A_LINE:
        raise ValueError(f"longer than {MOST_OF_A_LINE / 1e6:g} MB")
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
        raise ValueError(f"{kind_of(value)} where an object belongs")
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


def shown(value: object) -> str:
    text = encode(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def os_reason(exc: OSError) -> str:
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


def kind_of(value: object) -> str:
    return _KINDS.get(type(value), "a number")
