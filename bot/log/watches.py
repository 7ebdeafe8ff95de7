"""What channels watch: one order for each assistant in a channel."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, Table, and_, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.clock import utc_now
from bot.domain.watch import Shows, Watch
from bot.log.audit import Act, Action, note
from bot.log.database import Database
from bot.log.schema import IS_WAITED_FOR, replies, watches
from bot.log.upserts import upsert

_TESTS_EVERY = timedelta(minutes=1)


class Watches:
    """Reads and writes the watches."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, team_id: str, channel_id: str | None = None) -> Sequence[Watch]:
        """Those of a team, or of one channel, by channel and assistant."""
        query = select(*(watches.c[each.name] for each in fields(Watch))).where(watches.c.team_id == team_id)
        if channel_id is not None:
            query = query.where(watches.c.channel_id == channel_id)
        rows = await self._database.all(query.order_by(watches.c.channel_id, watches.c.author_id))
        return [_to_watch(row) for row in rows]

    async def save(self, watch: Watch, by: str) -> None:
        """Records a watch, in the place of the one on the same assistant there, and who has set it."""
        now = utc_now()
        values = asdict(watch) | {"looked_at": now, "updated_at": now}
        statement = upsert(self._database, watches, values, keep=("since", "looked_at"))

        async def save(connection: AsyncConnection) -> None:
            await connection.execute(statement)
            await note(connection, [_act(watch, by, Action.WATCH_SET)])

        await self._database.write(save)

    async def begin_look(self, team_id: str, channel_id: str, now: datetime, every: timedelta) -> datetime | None:
        """Since when a channel is to be read, by whoever asks first; None where nobody is to read it yet.

        A look that came to nothing is covered by the next one.
        """
        is_there = and_(watches.c.team_id == team_id, watches.c.channel_id == channel_id)

        async def begin(connection: AsyncConnection) -> datetime | None:
            last = (await connection.execute(select(func.min(watches.c.looked_at)).where(is_there))).scalar()
            if last is None or last > now - every:
                return None
            is_ours = and_(is_there, watches.c.looked_at <= now - every)
            taken = (await connection.execute(update(watches).where(is_ours).values(looked_at=now))).rowcount
            return last - every if taken else None

        return await self._database.write(begin)

    async def begin_test(self, watch: Watch, now: datetime) -> bool:
        """Whether a test alert is ours to send: whoever presses twice, in whichever process, has one sent a minute."""
        is_over = or_(watches.c.tested_at.is_(None), watches.c.tested_at <= now - _TESTS_EVERY)
        return await self._database.execute(update(watches).where(_is(watch), is_over).values(tested_at=now)) == 1

    async def end(self, watch: Watch, by: str) -> None:
        """Ends a watch; what it has scored stays, and what it waits for is seen by no watch any more."""

        async def end(connection: AsyncConnection) -> None:
            await connection.execute(delete(replies).where(_is(watch, replies), IS_WAITED_FOR))
            if (await connection.execute(delete(watches).where(_is(watch)))).rowcount:
                await note(connection, [_act(watch, by, Action.WATCH_ENDED)])

        await self._database.write(end)


def _is(watch: Watch, table: Table = watches) -> ColumnElement[bool]:
    return and_(
        table.c.team_id == watch.team_id,
        table.c.channel_id == watch.channel_id,
        table.c.author_id == watch.author_id,
    )


def _act(watch: Watch, by: str, what: Action) -> Act:
    return Act(watch.team_id, by, what, channel_id=watch.channel_id, user_id=watch.author_id)


def _to_watch(row: Row[Any]) -> Watch:
    return Watch(**(dict(row._mapping) | {"shows": Shows(row.shows)}))
