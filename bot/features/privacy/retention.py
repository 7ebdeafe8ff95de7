"""What goes when its time is over: cases, their texts, and what is kept beside them."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import CaseStatus
from bot.domain.clock import utc_now
from bot.store import Store
from bot.store.cases import AT_REST
from bot.store.database import lock_words
from bot.store.edits import drop_texts
from bot.store.figures import BEGINNING
from bot.store.forgetting import BATCH, is_old, is_old_release
from bot.store.schema import IS_TAKEN_BACK, audit, cases, notices, releases, spent, thumbs
from bot.store.spending import DAY

AUDIT_KEPT = timedelta(days=730)
"""How long a row of the audit is kept, whatever RETENTION_DAYS says: people's ids are not kept forever, either."""
_NOTICES_KEPT = timedelta(days=90)  # a release is told within eight weeks
# The longest that Slack retries events: https://docs.slack.dev/apis/events-api
_SENT_AGAIN_FOR = timedelta(days=1)

logger = structlog.get_logger(__name__)


class Retention:
    """Deletes the cases that are older than `days` (None: never), and the texts of those older than
    `text_days` (0: with their cases).
    """

    def __init__(self, store: Store, days: int | None, text_days: int = 0) -> None:
        self._store = store
        self._days = days
        self._text_days = text_days
        # What is older needs no second look in this process.
        self._texts_dropped_to = BEGINNING

    async def run(self) -> None:
        now = utc_now()
        forgetting = self._store.forgetting
        if self._days is not None:
            deleted = await forgetting.forget_older(now - timedelta(days=self._days))
            if deleted:
                logger.info("cases_forgotten", older_than_days=self._days, cases=deleted)
        if not self._store.assignments.keeps_text:
            # A case that waits for its question has its response stored till then.
            waits = is_old(now - timedelta(days=1), [CaseStatus.ASKED])
            await forgetting.forget_where(waits, None)
        if self._text_days:
            dropped = await self.drop_older_texts(now - timedelta(days=self._text_days))
            if dropped:
                logger.info("texts_dropped", older_than_days=self._text_days, cases=dropped)
        for statement in _others_before(now):
            await self._store.database.execute(statement)
        # If a reader is in the way, the next run tries again.
        await forgetting.scrub(unless_since=now - timedelta(days=1))

    async def drop_older_texts(self, before: datetime) -> int:
        """Removes the texts of the cases at rest that were created before this time, in small
        batches, and the notes of releases that are as old; returns the number of the cases.
        """
        database = self._store.database
        some = _with_texts(before, self._texts_dropped_to)

        async def drop(connection: AsyncConnection) -> int:
            await lock_words(connection)
            return await drop_texts(database, connection, cases.c.id.in_(some))

        total = await self._store.forgetting.in_batches(drop)
        self._texts_dropped_to = before
        has_note = sa.and_(is_old_release(before), releases.c.note != "")
        if await database.execute(sa.update(releases).where(has_note).values(note="")):
            await database.note_deletion()
        return total


def _with_texts(before: datetime, since: datetime) -> sa.Select[tuple[int]]:
    """Some cases at rest of that time that have their texts."""
    has_texts = sa.or_(cases.c.question.is_not(None), cases.c.response.is_not(None))
    is_of_then = sa.and_(is_old(before, AT_REST), cases.c.created_at >= since)
    found = sa.select(cases.c.id).where(is_of_then, has_texts).order_by(cases.c.created_at)
    # PostgreSQL: skips what another process is dropping, so that the two never wait for each other.
    return found.limit(BATCH).with_for_update(skip_locked=True)


def _others_before(now: datetime) -> Iterator[sa.Delete]:
    """Deletes what is beside cases, each when its own time is over."""
    yield sa.delete(thumbs).where(IS_TAKEN_BACK, thumbs.c.changed_at < now - _SENT_AGAIN_FOR)
    yield sa.delete(audit).where(audit.c.at < now - AUDIT_KEPT)
    yield sa.delete(notices).where(notices.c.claimed_at < now - _NOTICES_KEPT)
    yield sa.delete(spent).where(spent.c.created_at < now - DAY)
