"""`judge-bot replay --adopt`: the new judge becomes the default, where it is shown to be no worse."""

import os
import re
from codecs import BOM_UTF8
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import typer
from dotenv.parser import Binding, parse_stream

from bot.commands.replay_report import Comparison
from bot.errors import BotError
from judge.files import private_and_new, put_in_place

_ENV = Path(".env")


def adopt(settings: Mapping[str, str], comparison: Comparison) -> bool:
    """Writes a judge's settings into `.env`, unless its figures leave a doubt; says what was done.

    Raises:
        BotError: The environment has one of these settings, and would win; or `.env` cannot be written.
    """
    if doubt := comparison.doubt:
        typer.echo(f"Not adopted: {doubt}.")
        return False
    fixed = [name for name in settings if name in {each.upper() for each in os.environ}]
    if fixed:
        raise BotError(
            f"not adopted: the environment has {' and '.join(fixed)} and goes before .env; set there "
            + " ".join(f"{name}={value}" for name, value in settings.items())
        )
    try:
        write_settings(_ENV, settings)
    except OSError as exc:
        raise BotError(f"not adopted: .env cannot be written ({exc.strerror})") from exc
    except UnicodeEncodeError as exc:
        raise BotError(f"not adopted: .env cannot be written ({exc.reason})") from exc
    typer.echo(f"Adopted: {', '.join(settings)} in .env; the bot takes them at its next start.")
    return True


def write_settings(env_file: Path, settings: Mapping[str, str]) -> None:
    """Sets them in the file, all at once, and leaves the rest of it as it is; names in lower case are found, too.

    Raises:
        OSError: It cannot be written; then it is as it was.
        UnicodeEncodeError: The same, for what cannot be UTF-8.
    """
    target = env_file.resolve()
    raw = target.read_bytes() if target.exists() else b""
    encoding = "utf-8-sig" if raw.startswith(BOM_UTF8) else "utf-8"
    lines, missing = [], dict(settings)
    for each in parse_stream(StringIO(raw.decode(encoding), newline="")):
        name = (each.key or "").upper()
        missing.pop(name, None)
        lines.append(_with_value(each, settings[name]) if name in settings else each.original.string)
    end = "\r\n" if b"\r\n" in raw else "\n"
    if missing and lines and not lines[-1].endswith(("\r", "\n")):
        lines.append(end)
    lines += [f"{name}={_quoted(value)}{end}" for name, value in missing.items()]
    changed = "".join(lines).encode(encoding)
    beside = target.with_name(f"{target.name}.part")
    try:
        with open(beside, "wb", opener=private_and_new) as file:
            file.write(changed)
        put_in_place(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def _with_value(binding: Binding, value: str) -> str:
    """The binding's lines with another value: what stands before its name, and how its line ends, stay."""
    before, after = (
        re.match(r"\s*(?:export\s+)?", binding.original.string),
        re.search(r"[\r\n]*\Z", binding.original.string),
    )
    return f"{before and before[0]}{binding.key}={_quoted(value)}{after and after[0]}"


def _quoted(value: str) -> str:
    escaped = value.replace("\\", r"\\").replace("'", r"\'")
    return value if value.isalnum() else f"'{escaped}'"
