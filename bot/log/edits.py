"""What has become of scored messages since: edited, or deleted."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, select, union, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import CaseStatus, text_hash
from bot.domain.clock import utc_now
from bot.log.database import Database
from bot.log.forgetting import AT_REST
from bot.log.jobs import Job, Jobs, Task, Ticket
from bot.log.rows import is_of_team
from bot.log.schema import IS_STALE, cases
from bot.log.texts import drop_texts

_AT_ONCE = 100


@dataclass(frozen=True)
class EditedCase:
    """A case of which the verdict in Slack has something to say since, or to take back, and where it stands.

    Its message was edited or deleted after it was read, or somebody has had their words in it forgotten.
    """

    id: int
    status: CaseStatus
    channel_id: str
    message_ts: str | None
    parent_ts: str | None
    thread_ts: str | None
    reply_ts: str | None
    blocked_by: str | None
    edited_at: datetime | None
    deleted_at: datetime | None
    forgotten_at: datetime | None

    @property
    def loses_words(self) -> bool:
        """Whether nothing that is quoted may stay."""
        return self.deleted_at is not None or self.forgotten_at is not None

    @property
    def texts_ts(self) -> str | None:
        """Our message with the two typed texts, which begins the thread; None where there is none."""
        is_typed = self.message_ts is None and self.parent_ts is None
        return self.thread_ts if is_typed else None


class Edits:
    """Marks the cases of messages that are no longer what was scored.

    A marked case is stale until the verdict in Slack says so, too. Whoever settles a case meanwhile is not disturbed:
    these columns are nobody else's.
    """

    def __init__(self, database: Database, jobs: Jobs) -> None:
        self._database = database
        self._jobs = jobs

    async def note_edited(self, team_id: str, channel_id: str, ts: str, text: str) -> Sequence[int]:
        """Marks the cases whose question or response was read from this message, and is another than `text`."""
        found, is_new = text_hash(text), _is_new(team_id, channel_id, cases.c.edited_at)
        scored = and_(is_new, cases.c.message_ts == ts, cases.c.response_hash != found)
        asked = and_(is_new, cases.c.question_ts == ts, cases.c.question_hash != found)
        return await self._mark(team_id, scored, asked, "edited_at")

    async def note_deleted(self, team_id: str, channel_id: str, ts: str) -> Sequence[int]:
        """Marks the cases whose question or response was read from this message; those at rest lose their texts."""
        is_new = _is_new(team_id, channel_id, cases.c.deleted_at)
        scored, asked = and_(is_new, cases.c.message_ts == ts), and_(is_new, cases.c.question_ts == ts)
        return await self._mark(team_id, scored, asked, "deleted_at")

    async def _mark(
        self, team_id: str, scored: ColumnElement[bool], asked: ColumnElement[bool], column: str
    ) -> Sequence[int]:
        # Nearly every message was never scored: it is looked for without the writers' lock, and by two queries, since
        # SQLite would go through the whole channel for one with "or".
        query = union(select(cases.c.id).where(scored), select(cases.c.id).where(asked))
        found = [row.id for row in await self._database.all(query)]
        if not found:
            return []
        is_found = cases.c.id.in_(found)
        marks = {column: utc_now(), "is_stale": True}

        async def mark(connection: AsyncConnection) -> None:
            await connection.execute(update(cases).where(is_found).values(marks))
            if column == "deleted_at":
                await drop_texts(connection, and_(is_found, cases.c.status.in_(AT_REST)))
            await self._jobs.put(connection, [Job(Task.AMEND, team_id, Ticket(case_id=number)) for number in found])

        await self._database.write(mark)
        return found

    async def case(self, case_id: int) -> EditedCase | None:
        """The case with this number, if it is there and its verdict in Slack does not yet say what became of it."""
        row = await self._database.one(_stale.where(cases.c.id == case_id))
        return _to_edited(row) if row else None

    async def resubmit(self, team_id: str) -> None:
        """Writes the jobs that should be there for a team's stale verdicts; a safety net, and the start of a queue."""
        query = _stale.where(is_of_team(team_id), cases.c.status == CaseStatus.DELIVERED)
        rows = await self._database.all(query.order_by(cases.c.id).limit(_AT_ONCE))
        jobs = [Job(Task.AMEND, team_id, Ticket(case_id=row.id), key=f"amend/{row.id}") for row in rows]
        if jobs:
            await self._database.write(lambda connection: self._jobs.put(connection, jobs))

    async def drop_texts(self, case: EditedCase) -> None:
        """Takes the texts out of a case that was still being scored when they were to go."""
        await self._database.write(lambda connection: drop_texts(connection, cases.c.id == case.id))

    async def note_said(self, case: EditedCase) -> None:
        """The verdict says what `case` says; what has become of the message since is still to be said."""
        is_same = and_(
            cases.c.edited_at.is_not_distinct_from(case.edited_at),
            cases.c.deleted_at.is_not_distinct_from(case.deleted_at),
            cases.c.forgotten_at.is_not_distinct_from(case.forgotten_at),
        )
        await self._database.execute(update(cases).where(cases.c.id == case.id, is_same).values(is_stale=False))


_stale = select(*(cases.c[each.name] for each in fields(EditedCase))).where(IS_STALE)


def _to_edited(row: Row[Any]) -> EditedCase:
    return EditedCase(**(dict(row._mapping) | {"status": CaseStatus(row.status)}))


def _is_new(team_id: str, channel_id: str, mark: ColumnElement[datetime]) -> ColumnElement[bool]:
    return and_(cases.c.team_id == team_id, cases.c.channel_id == channel_id, mark.is_(None))
