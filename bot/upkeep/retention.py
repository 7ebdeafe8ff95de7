"""How long cases are kept: what is older than RETENTION_DAYS is deleted, at start and once a day."""

import asyncio
from datetime import UTC, datetime, timedelta

import structlog

from bot.domain.case import CaseStatus
from bot.log import Log
from bot.log.errors import LOG_ERRORS, in_brief
from bot.log.forgetting import Erasure

EVERY = timedelta(days=1)
_AFTER_TROUBLE = timedelta(hours=1)
_UNANSWERED = timedelta(days=1)

logger = structlog.get_logger(__name__)


class Retention:
    """Deletes what is older than it may become.

    Args:
        log: The log.
        days: How long a case is kept after it was asked for; None is for ever.
        keeps_text: Whether the log may keep texts; else a case whose question nobody has typed for a day, and which
            would keep its response as long, is deleted.
    """

    def __init__(self, log: Log, days: int | None, *, keeps_text: bool) -> None:
        self._erasure = Erasure(log)
        self._days = days
        self._keeps_text = keeps_text

    async def run_forever(self) -> None:
        """Deletes what is due, at once and every day, until cancelled."""
        while True:
            pause = EVERY
            try:
                await self.run()
            except LOG_ERRORS as exc:
                pause = _AFTER_TROUBLE
                logger.error("purge_failed", reason=in_brief(exc), next_in=str(pause))
            await asyncio.sleep(pause.total_seconds())

    async def run(self) -> None:
        """Deletes what is due now."""
        now, deleted = datetime.now(UTC), 0
        if self._days is not None:
            deleted += await self._erasure.purge(now - timedelta(days=self._days))
        if not self._keeps_text:
            deleted += await self._erasure.purge(now - _UNANSWERED, [CaseStatus.ASKED])
        is_clean = await self._erasure.scrub()
        logger.info("purged", cases=deleted, journal="empty" if is_clean else "in use")
