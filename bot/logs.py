"""Logging: structlog for ours and for what the libraries say; never a secret, never a message's text."""

import logging
import sys
from typing import Literal

import structlog

_SHARED: tuple[structlog.typing.Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


def configure_logs(log_format: Literal["console", "json"], level: int = logging.INFO) -> None:
    """Writes every log line to stderr, for people or as one JSON object a line."""
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    # Plain tracebacks: the fancy ones print local variables, and with them tokens and texts.
    console = structlog.dev.ConsoleRenderer(
        colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
    )
    renderer: list[structlog.typing.Processor] = [console]
    if log_format == "json":
        renderer = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for noisy in ("alembic", "httpx2", "openai", "slack_sdk", "asyncio", "pgqueuer"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    # At WARNING, Bolt says of every client that SLACK_BOT_TOKEN is not read, which is as it should be.
    logging.getLogger("slack_bolt").setLevel(logging.ERROR)
