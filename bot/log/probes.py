"""What `/readyz` and `/metrics` ask of the log: whether it answers, and how many cases there are."""

from bot import metrics
from bot.log.errors import LOG_ERRORS
from bot.log.presence import LapsedError
from bot.log.store import Log


async def is_ready(log: Log) -> bool:
    """Whether this process has its place among the others, and the log answers."""
    try:
        log.presence.check()
        await log.ping()
    except (LapsedError, *LOG_ERRORS):
        return False
    return True


async def render_metrics(log: Log) -> bytes | None:
    """All metrics in Prometheus' text format; None where the log is out of reach."""
    try:
        return metrics.render(await log.counts())
    except LOG_ERRORS:
        return None
