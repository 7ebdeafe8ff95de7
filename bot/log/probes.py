"""What `/readyz` and `/metrics` ask of the log: whether it answers, and how many cases there are."""

from bot import metrics
from bot.log.cases import Cases
from bot.log.errors import LOG_ERRORS


async def is_ready(cases: Cases) -> bool:
    """Whether the log answers."""
    try:
        await cases.ping()
    except LOG_ERRORS:
        return False
    return True


async def render_metrics(cases: Cases) -> bytes | None:
    """All metrics in Prometheus' text format; None where the log is out of reach."""
    try:
        return metrics.render(await cases.counts())
    except LOG_ERRORS:
        return None
