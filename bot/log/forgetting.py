"""Taking cases out of the log: what is deleted here is gone from the file as well."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, delete, func, or_, select, union, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import CaseStatus, LoggedCase
from bot.domain.clock import utc_now
from bot.log import spending
from bot.log.audit import Act, Action, note
from bot.log.database import Database
from bot.log.jobs import Job, Jobs, Task, Ticket
from bot.log.rows import to_case
from bot.log.schema import cases, spent
from bot.log.thumbs import drop_of_reply
from bot.log.visibility import same_reply

AT_REST = (CaseStatus.DELIVERED, CaseStatus.ASKED)
"""Nobody works on a case in one of these; the others are left alone until they are settled."""

BATCH = 500
PAUSE_S = 0.05  # in which others get to write
# A checkpoint holds up all writers while it waits for a reader, so it gives up soon.
_CHECKPOINT_PATIENCE_MS = 200


class Forgetting:
    """Deletes cases, with their ratings and labels."""

    def __init__(self, database: Database, jobs: Jobs) -> None:
        self._database = database
        self._jobs = jobs
        self.scrubbed_at: datetime | None = None
        """When SQLite's journal was emptied after the last deletion; None while that is still to be done."""

    async def cases_at(self, team_id: str, channel_id: str, ts: str, parent_ts: str | None) -> Sequence[LoggedCase]:
        """All cases of one message, oldest first; `ts` names it, or a verdict on it, or two typed texts."""
        here = and_(cases.c.team_id == team_id, cases.c.channel_id == channel_id)
        in_thread = and_(here, cases.c.thread_ts == (parent_ts or ts))
        is_typed = cases.c.message_ts.is_(None)
        # A union, each part by its index: for "or" SQLite would go through the whole channel.
        places = select(cases.c.message_ts, cases.c.thread_ts)
        named = union(
            places.where(here, cases.c.message_ts == ts),
            places.where(in_thread, or_(cases.c.reply_ts == ts, and_(is_typed, cases.c.thread_ts == ts))),
        )
        found = await self._database.all(named)
        scored = [row.message_ts for row in found if row.message_ts]
        typed = [row.thread_ts for row in found if not row.message_ts]
        same = union(
            select(cases.c.id).where(here, cases.c.message_ts.in_(scored)),
            select(cases.c.id).where(here, cases.c.thread_ts.in_(typed), is_typed),
        )
        query = select(cases).where(cases.c.id.in_(same)).order_by(cases.c.id)
        return [to_case(row) for row in await self._database.all(query)]

    async def forget(self, case_ids: Sequence[int], by: str) -> Sequence[int]:
        """Deletes these cases for whoever asks, as far as they are at rest, and gives the numbers of those gone."""
        is_gone = and_(cases.c.id.in_(case_ids), cases.c.status.in_(AT_REST))

        self.scrubbed_at = None

        async def remove(connection: AsyncConnection) -> Sequence[int]:
            await spending.keep(connection, is_gone)
            place = cases.c.team_id, cases.c.channel_id, cases.c.message_ts, cases.c.thread_ts
            deletion = delete(cases).where(is_gone).returning(cases.c.id, *place)
            gone = (await connection.execute(deletion)).all()
            for row in gone:
                await self._unfold_earlier(connection, row)
                await drop_of_reply(connection, row)
            await note(connection, [Act(row.team_id, by, Action.FORGOT_CASE, case_id=row.id) for row in gone])
            return [row.id for row in gone]

        return await self._database.write(remove)

    async def _unfold_earlier(self, connection: AsyncConnection, gone: Row[*tuple[Any, ...]]) -> None:
        """What a verdict had replaced counts again, and in Slack is to say so."""
        is_earlier = and_(same_reply(gone), cases.c.id < gone.id, cases.c.reply_ts.is_not(None))
        marking = update(cases).where(is_earlier).values(is_stale=True).returning(cases.c.id)
        earlier = (await connection.execute(marking)).scalars()
        await self._jobs.put(connection, [Job(Task.AMEND, gone.team_id, Ticket(case_id=number)) for number in earlier])

    async def count(self, before: datetime) -> int:
        """How many cases were created before this time and are at rest."""
        ((number,),) = await self._database.all(select(func.count()).where(_is_old(before, AT_REST)))
        return int(number)

    async def forget_older(
        self, before: datetime, statuses: Sequence[CaseStatus] = AT_REST, by: str | None = None
    ) -> int:
        """Deletes the cases that were created before this time, in small batches, and gives their number.

        `by` is who purges, and stands with each batch in the audit; None is the setting, which is nobody's act.
        Several processes may do this at the same time.
        """
        total = 0
        while deleted := await self._forget_some(_is_old(before, statuses), by):
            total += deleted
            self.scrubbed_at = None
            await asyncio.sleep(PAUSE_S)
        return total

    async def _forget_some(self, is_old: ColumnElement[bool], by: str | None) -> int:
        some = select(cases.c.id).where(is_old).order_by(cases.c.created_at).limit(BATCH)
        # PostgreSQL: what another process is deleting is left to it, so that the two never wait for each other.
        is_ours = cases.c.id.in_(some.with_for_update(skip_locked=True))
        deletion = delete(cases).where(is_ours).returning(cases.c.team_id)

        async def remove(connection: AsyncConnection) -> int:
            gone = Counter((await connection.execute(deletion)).scalars())
            if by is not None:
                await note(
                    connection, [Act(team_id, by, Action.PURGED, cases=number) for team_id, number in gone.items()]
                )
            return gone.total()

        return await self._database.write(remove)

    async def drop_spent(self) -> None:
        """Deletes what forgotten cases have used, once it counts no more."""
        await self._database.execute(delete(spent).where(spent.c.created_at < utc_now() - spending.DAY))

    async def scrub(self) -> bool:
        """Whether nothing deleted is left in SQLite's journal; False where somebody was reading at that moment.

        What PostgreSQL keeps of deleted rows is for its own VACUUM.
        """
        is_busy = self._database.is_sqlite and await self._database.read(_truncate_journal)
        if not is_busy:
            self.scrubbed_at = utc_now()
        return not is_busy


async def _truncate_journal(connection: AsyncConnection) -> Any:
    """Whether SQLite was too busy to do it: 1 or 0."""
    patience_ms = await _pragma(connection, "busy_timeout")
    await _pragma(connection, f"busy_timeout = {_CHECKPOINT_PATIENCE_MS}")
    try:
        return await _pragma(connection, "wal_checkpoint(TRUNCATE)")
    finally:
        await _pragma(connection, f"busy_timeout = {patience_ms}")


def _is_old(before: datetime, statuses: Sequence[CaseStatus]) -> ColumnElement[bool]:
    return and_(cases.c.created_at < before, cases.c.status.in_(statuses))


async def _pragma(connection: AsyncConnection, pragma: str) -> Any:
    return (await connection.exec_driver_sql(f"PRAGMA {pragma}")).scalar()
