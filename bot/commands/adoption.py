"""`judge-bot replay --adopt`: the new judge becomes the default, where it is shown to be no worse."""

import os
from collections.abc import Mapping
from pathlib import Path

import typer
from dotenv import set_key

from bot.commands.replay_report import Comparison
from bot.errors import BotError

_ENV = Path(".env")


def adopt(settings: Mapping[str, str], comparison: Comparison) -> bool:
    """Writes a judge's settings into `.env`, unless its figures leave a doubt; says what was done.

    Raises:
        BotError: The environment has one of these settings, and would win; or `.env` cannot be written.
    """
    if doubt := comparison.doubt:
        typer.echo(f"Not adopted: {doubt}.")
        return False
    fixed = [name for name in settings if name in os.environ]
    if fixed:
        raise BotError(
            f"not adopted: the environment has {' and '.join(fixed)} and goes before .env; set there "
            + " ".join(f"{name}={value}" for name, value in settings.items())
        )
    try:
        for name, value in settings.items():
            set_key(_ENV, name, value, quote_mode="auto")
    except OSError as exc:
        raise BotError(f"not adopted: .env cannot be written ({exc.strerror})") from exc
    typer.echo(f"Adopted: {', '.join(settings)} in .env; the bot takes them at its next start.")
    return True
