"""Logging: structlog writes our lines and those of libraries, without secrets and without texts of
messages.

Libraries log whole URLs: slack-sdk with a socket's ticket, aiohttp with a proxy's password. Only
the scheme, host and path of a URL are kept. Repeats cannot flood the log: of each warning or error
a few lines are written a minute.
"""

import logging
import re
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Literal

import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.typing import EventDict, ExcInfo, Processor

_MOST_A_MINUTE = 20
_NUMBER = re.compile(r"\d+")
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]{0,40}://)(\S*)", re.IGNORECASE)
_HIDDEN = "***"

_SHARED: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


class RepeatFilter(logging.Filter):
    """Passes a few lines a minute of each warning or error.

    Lines with the same logger and event repeat each other; numbers in the event do not count. All
    lines below a warning pass: there is one for each case, and outsiders cannot cause any.
    """

    def __init__(
        self, most_a_minute: int = _MOST_A_MINUTE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._most = most_a_minute
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: Counter[tuple[str, str]] = Counter()
        self._since = clock()

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        # What repeats of a line share: its first line, with its numbers masked and without its
        # values.
        said = record.msg.get("event") if isinstance(record.msg, dict) else record.msg
        event = record.name, _NUMBER.sub("#", str(said).partition("\n")[0][:200])
        with self._lock:
            now = self._clock()
            if now - self._since >= 60:
                self._seen.clear()
                self._since = now
            self._seen[event] += 1
            return self._seen[event] <= self._most


def _first_line(_logger: object, _name: str, event: EventDict) -> EventDict:
    """Keeps only the first line of a library's message: asyncio quotes the error in the second."""
    event["event"] = str(event["event"]).partition("\n")[0]
    return event


def _clean(_logger: object, _name: str, event: EventDict) -> EventDict:
    """Without secrets in addresses, and with control characters written out."""
    for key, said in event.items():
        if isinstance(said, str):
            text = _ADDRESS.sub(_shown, said)
            event[key] = "".join(
                char if char.isprintable() else char.encode("unicode_escape").decode()
                for char in text
            )
    return event


def _shown(address: re.Match[str]) -> str:
    """Scheme, host and path; only the scheme if there is a login, which may hold any character."""
    scheme, rest = address.groups()
    return scheme + (_HIDDEN if "@" in rest else re.sub(r"[?#].*", f"?{_HIDDEN}", rest))


def _places(exc_info: ExcInfo) -> str:
    """The class of an error, and where in our code it passed; its message is left out, because it may
    quote a payload.

    The errors that led to it come first, up to ten in all. Of an error that was in none of our code,
    the innermost place is given.
    """
    lines = list[str]()
    error: BaseException | None = exc_info[1]
    while error is not None and len(lines) < 10:
        kind = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
        frames = traceback.walk_tb(error.__traceback__)
        places = [(frame.f_globals.get("__name__", "?"), line) for frame, line in frames]
        ours = [each for each in places if each[0].startswith(("bot.", "judge."))]
        passed = " > ".join(f"{module}:{line}" for module, line in ours or places[-1:])
        lines.insert(0, f"{kind} at {passed}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return ", which led to ".join(lines)


def _to_stderr(log_format: Literal["console", "json"]) -> logging.Handler:
    last: Processor = structlog.processors.JSONRenderer()
    if log_format == "console":
        last = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    handler = logging.StreamHandler()
    handler.addFilter(RepeatFilter())
    handler.setFormatter(
        ProcessorFormatter(
            foreign_pre_chain=(*_SHARED, _first_line),
            processors=[
                ProcessorFormatter.remove_processors_meta,
                _clean,
                structlog.processors.ExceptionRenderer(_places),
                last,
            ],
        )
    )
    return handler


def configure_logs(log_format: Literal["console", "json"], level: int = logging.INFO) -> None:
    """Sends every log line to stderr, as text for people or as one JSON object per line."""
    structlog.configure(
        processors=[*_SHARED, ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    root = logging.getLogger()
    root.handlers = [_to_stderr(log_format)]
    root.setLevel(level)
    for noisy in ("alembic", "httpx2", "openai", "slack_sdk", "asyncio", "pgqueuer"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    # At WARNING, Bolt logs for every client that SLACK_BOT_TOKEN is not read, which is intended.
    logging.getLogger("slack_bolt").setLevel(logging.ERROR)
    # At WARNING, OpenTelemetry logs each try to send a batch, and then once more that it gives the
    # batch up.
    logging.getLogger("opentelemetry").setLevel(logging.ERROR)
