"""OpenTelemetry, if the standard variables name a receiver; otherwise its packages are not
imported.
"""

import os
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from dotenv import dotenv_values

from bot.errors import BotError
from judge.errors import needs_extra

if TYPE_CHECKING:
    from bot.telemetry.otlp import Telemetry

Counts = Callable[[], Awaitable[Mapping[str, int]]]
"""Returns the number of cases by status."""

_SIGNALS = ("TRACES", "METRICS", "LOGS")
_HEADER = re.compile(r"\s*[\w.-]+\s*=[ !#-+\--:<-\[\]-~]*", re.ASCII)  # no more than the SDK takes
_RECEIVER = "OTEL_EXPORTER_OTLP_ENDPOINT"

logger = structlog.get_logger(__name__)


def read_variables(env_file: Path = Path(".env")) -> None:
    """Adds the OTEL_ variables of `env_file` to the environment, because the SDK reads nothing
    else.
    """
    for name, value in dotenv_values(env_file, encoding="utf-8-sig").items():
        if name.startswith("OTEL_") and value:
            os.environ[name] = os.environ.get(name) or value


def signals() -> Sequence[str]:
    """The signals to send: those that have a receiver and are not switched off.

    Raises ValueError, with the variable's name alone, for what the SDK would log together with its
    secret.
    """
    if _value("OTEL_SDK_DISABLED") == "true":
        return []
    has_receiver = {
        each: _value(_RECEIVER) or _value(f"OTEL_EXPORTER_OTLP_{each}_ENDPOINT")
        for each in _SIGNALS
    }
    wanted = [
        each
        for each in _SIGNALS
        if has_receiver[each] and _value(f"OTEL_{each}_EXPORTER") != "none"
    ]
    for part in ("", *(f"{each}_" for each in wanted)):
        receiver = f"OTEL_EXPORTER_OTLP_{part}ENDPOINT"
        headers = f"OTEL_EXPORTER_OTLP_{part}HEADERS"
        if _value(receiver) and not _value(receiver).startswith(("http://", "https://")):
            raise ValueError(f"{receiver}: expected a URL that begins with http or https")
        if not all(
            _HEADER.fullmatch(each)
            for each in os.environ.get(headers, "").split(",")
            if each.strip()
        ):
            raise ValueError(
                f"{headers}: expected name=value, several with commas, values URL-encoded"
            )
    return wanted


def _value(name: str) -> str:
    return os.environ.get(name, "").strip().lower()


def load() -> "type[Telemetry]":
    """The class that sends the signals; raises BotError if the extra is not installed."""
    with needs_extra(f"{_RECEIVER} is set, and", "otel", "opentelemetry", error=BotError):
        from bot.telemetry.otlp import Telemetry
    return Telemetry


def start(counts: Counts) -> "Telemetry | None":
    """Starts to send the signals that have a receiver.

    If that fails, the log says why and the bot runs on, because many platforms set these variables
    for everything.
    """
    try:
        wanted = signals()
        return load()(wanted, counts) if wanted else None
    except (BotError, ValueError, RuntimeError) as exc:
        logger.warning("telemetry_off", reason=str(exc))
        return None
