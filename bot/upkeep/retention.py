"""How long cases are kept: what is older than RETENTION_DAYS is deleted, looked after every minute; so is old audit."""

from datetime import timedelta

import structlog

from bot.domain.case import CaseStatus
from bot.domain.clock import utc_now
from bot.store.audit import KEPT, Audit
from bot.store.digests import Thumbs
from bot.store.privacy import Forgetting
from bot.store.watches import Replies

_UNANSWERED = timedelta(days=1)
_SENT_AGAIN_FOR = timedelta(days=1)  # by Slack at most: https://docs.slack.dev/apis/events-api
_SCRUBBED_EVERY = timedelta(days=1)

logger = structlog.get_logger(__name__)


class Retention:
    """Deletes what is older than it may become.

    Args:
        forgetting: The log's part that deletes cases.
        audit: The log's part with a time of its own.
        replies: The log's part with what watches have seen.
        thumbs: The log's part with what people put under replies.
        days: How long a case is kept after it was asked for; None is for ever.
        keeps_text: Whether the log may keep texts; else a case whose question nobody has typed for a day, and which
            would keep its response as long, is deleted.
    """

    def __init__(
        self,
        forgetting: Forgetting,
        audit: Audit,
        replies: Replies,
        thumbs: Thumbs,
        days: int | None,
        *,
        keeps_text: bool,
    ) -> None:
        self._forgetting = forgetting
        self._audit = audit
        self._replies = replies
        self._thumbs = thumbs
        self._days = days
        self._keeps_text = keeps_text

    async def run(self) -> None:
        """Deletes what is due now."""
        now, deleted = utc_now(), 0
        if self._days is not None:
            before = now - timedelta(days=self._days)
            deleted += await self._forgetting.forget_older(before)
            await self._replies.drop_older(before)
            await self._thumbs.drop_older(before)
        if not self._keeps_text:
            deleted += await self._forgetting.forget_older(now - _UNANSWERED, [CaseStatus.ASKED])
        if deleted:
            logger.info("cases_forgotten", older_than_days=self._days, cases=deleted)
        await self._thumbs.drop_taken_back(now - _SENT_AGAIN_FOR)
        await self._audit.drop_older(now - KEPT)
        await self._forgetting.drop_spent()
        scrubbed_at = self._forgetting.scrubbed_at
        if scrubbed_at is None or scrubbed_at < now - _SCRUBBED_EVERY:
            await self._forgetting.scrub()  # what somebody is reading right now stays for the next minute
