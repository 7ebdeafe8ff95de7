"""A person's own cases, newest first, page by page."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from sqlalchemy import func, null, or_, select, tuple_

from bot.domain.case import CaseStatus, Visibility
from bot.log.database import Database
from bot.log.schema import cases

_BEGINNING = 300
"""Characters of the response: more than a list shows, since blanks and what nobody sees are left out there."""


@dataclass(frozen=True)
class RecentCase:
    """What a list says of a case: how far it is, where it stands, and how the response begins, if that is kept."""

    id: int
    channel_id: str
    status: CaseStatus
    score: int | None
    highest: int | None
    unscored_reason: str | None
    visibility: Visibility
    obstacle: str | None
    blocked_by: str | None
    author_id: str | None
    beginning: str | None
    response_hash: str | None
    message_ts: str | None
    parent_ts: str | None
    thread_ts: str | None
    reply_ts: str | None
    created_at: datetime
    deleted_at: datetime | None
    forgotten_at: datetime | None

    @property
    def loses_words(self) -> bool:
        """Whether nothing that is quoted of it may stay."""
        return self.deleted_at is not None or self.forgotten_at is not None

    @property
    def says_only_you(self) -> bool:
        """Whether the list says that nobody else sees the verdict."""
        return self.visibility == Visibility.ME or self.obstacle is not None or self.blocked_by is not None


PageEnd = tuple[datetime, int]
"""Where a page ends: time and number of its last case. It holds good when that case is deleted."""


class Recent:
    """Lists cases by who asked for them."""

    def __init__(self, database: Database, *, keeps_text: bool) -> None:
        self._database = database
        # Where no texts are kept, those of cases under way are nobody's to look at either.
        beginning = func.substr(cases.c.response, 1, _BEGINNING) if keeps_text else null()
        own = {"beginning": beginning.label("beginning")}
        self._columns = [own[each.name] if each.name in own else cases.c[each.name] for each in fields(RecentCase)]

    async def of(
        self,
        team_id: str,
        user_id: str,
        limit: int,
        before: PageEnd | None = None,
        asked_since: datetime | None = None,
    ) -> Sequence[RecentCase]:
        """A person's newest cases, or the newest of those older than `before`.

        Cases that wait for a question are left out where they have waited since before `asked_since`.
        """
        query = select(*self._columns).where(cases.c.team_id == team_id, cases.c.requester_id == user_id)
        place = tuple_(cases.c.created_at, cases.c.id)
        if before:
            query = query.where(place < before)
        if asked_since:
            query = query.where(or_(cases.c.status != CaseStatus.ASKED, cases.c.created_at >= asked_since))
        query = query.order_by(cases.c.created_at.desc(), cases.c.id.desc()).limit(limit)
        return await self._database.rows(RecentCase, query)

    async def numbered(self, team_id: str, case_ids: Sequence[int]) -> Sequence[RecentCase]:
        """The cases with these numbers, whoever asked for them, oldest first."""
        query = select(*self._columns).where(cases.c.team_id == team_id, cases.c.id.in_(case_ids)).order_by(cases.c.id)
        return await self._database.rows(RecentCase, query)
