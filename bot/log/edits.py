"""What has become of scored messages since: edited, or deleted."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, and_, select, union, update

from bot.domain.case import CaseStatus, LoggedCase, text_hash
from bot.log.forgetting import AT_REST
from bot.log.rows import is_of_team, to_case
from bot.log.schema import IS_STALE, cases
from bot.log.store import Log
from bot.log.texts import drop_texts
from bot.log.whole import whole

_AT_ONCE = 100


class Changes:
    """Marks the cases of messages that are no longer what was scored.

    A marked case is stale until the verdict in Slack says so, too. Whoever settles a case meanwhile is not disturbed:
    these columns are nobody else's.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._engine = log.engine

    @whole
    async def note_edited(self, team_id: str, channel_id: str, ts: str, text: str) -> Sequence[int]:
        """Marks the cases whose question or response was read from this message, and is another than `text`."""
        found, is_new = text_hash(text), _is_new(team_id, channel_id, cases.c.edited_at)
        scored = and_(is_new, cases.c.message_ts == ts, cases.c.response_hash != found)
        asked = and_(is_new, cases.c.question_ts == ts, cases.c.question_hash != found)
        return await self._mark(scored, asked, "edited_at")

    @whole
    async def note_deleted(self, team_id: str, channel_id: str, ts: str) -> Sequence[int]:
        """Marks the cases whose question or response was read from this message; those at rest lose their texts."""
        is_new = _is_new(team_id, channel_id, cases.c.deleted_at)
        scored, asked = and_(is_new, cases.c.message_ts == ts), and_(is_new, cases.c.question_ts == ts)
        return await self._mark(scored, asked, "deleted_at")

    async def _mark(self, scored: ColumnElement[bool], asked: ColumnElement[bool], column: str) -> Sequence[int]:
        # Nearly every message was never scored: it is looked for without the writers' lock, and by two queries, since
        # SQLite would go through the whole channel for one with "or".
        query = union(select(cases.c.id).where(scored), select(cases.c.id).where(asked))
        async with self._engine.connect() as connection:
            found = (await connection.execute(query)).scalars().all()
        if not found:
            return []
        is_found = cases.c.id.in_(found)
        async with self._log.writing() as connection:
            await connection.execute(
                update(cases).where(is_found).values({column: datetime.now(UTC), "is_stale": True})
            )
            if column == "deleted_at":
                await drop_texts(connection, and_(is_found, cases.c.status.in_(AT_REST)))
        return found

    @whole
    async def stale(self, team_id: str) -> Sequence[LoggedCase]:
        """A team's delivered cases whose verdict in Slack does not yet say what has become of the message."""
        query = select(cases).where(IS_STALE, cases.c.status == CaseStatus.DELIVERED, is_of_team(team_id))
        async with self._engine.connect() as connection:
            rows = (await connection.execute(query.order_by(cases.c.id).limit(_AT_ONCE))).all()
        return [to_case(row) for row in rows]

    @whole
    async def drop_texts(self, case: LoggedCase) -> None:
        """Takes the texts out of a case whose message was deleted before the verdict was delivered."""
        async with self._log.writing() as connection:
            await drop_texts(connection, cases.c.id == case.id)

    @whole
    async def note_said(self, case: LoggedCase) -> None:
        """The verdict says what `case` says; what has become of the message since is still to be said."""
        is_same = and_(
            cases.c.edited_at.is_not_distinct_from(case.edited_at),
            cases.c.deleted_at.is_not_distinct_from(case.deleted_at),
        )
        async with self._log.writing() as connection:
            await connection.execute(update(cases).where(cases.c.id == case.id, is_same).values(is_stale=False))


def _is_new(team_id: str, channel_id: str, mark: ColumnElement[datetime]) -> ColumnElement[bool]:
    return and_(cases.c.team_id == team_id, cases.c.channel_id == channel_id, mark.is_(None))
