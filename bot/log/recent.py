"""A person's own cases, newest first, page by page."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from sqlalchemy import select, tuple_

from bot.domain.case import CaseStatus, Visibility
from bot.log.database import Database
from bot.log.schema import cases


@dataclass(frozen=True)
class RecentCase:
    """What a list says of a case: how far it is and where it stands; no text."""

    id: int
    channel_id: str
    status: CaseStatus
    score: int | None
    highest: int | None
    unscored_reason: str | None
    visibility: Visibility
    obstacle: str | None
    blocked_by: str | None
    message_ts: str | None
    parent_ts: str | None
    thread_ts: str | None
    reply_ts: str | None
    created_at: datetime
    deleted_at: datetime | None

    @property
    def says_only_you(self) -> bool:
        """Whether the list says that nobody else sees the verdict."""
        return self.visibility == Visibility.ME or self.obstacle is not None or self.blocked_by is not None


PageEnd = tuple[datetime, int]
"""Where a page ends: time and number of its last case. It holds good when that case is deleted."""


class Recent:
    """Lists cases by who asked for them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, team_id: str, user_id: str, limit: int, before: PageEnd | None = None) -> Sequence[RecentCase]:
        """A person's newest cases, or the newest of those older than `before`."""
        query = select(*(cases.c[each.name] for each in fields(RecentCase))).where(
            cases.c.team_id == team_id, cases.c.requester_id == user_id
        )
        place = tuple_(cases.c.created_at, cases.c.id)
        if before:
            query = query.where(place < before)
        query = query.order_by(cases.c.created_at.desc(), cases.c.id.desc()).limit(limit)
        return await self._database.rows(RecentCase, query)
