"""The messages of watched channels: ids and times, without words."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.outcome import Says, SeenMessage
from bot.store import database as db
from bot.store.figures import to_ts
from bot.store.schema import seen_messages


class SeenMessages(db.StoreQueries):
    @db.in_transaction
    async def note(self, connection: AsyncConnection, message: SeenMessage) -> None:
        """Stores a message as it is now; when it was whole first stays."""
        key = {"team_id": message.team_id, "channel_id": message.channel_id, "ts": message.ts}
        whole = sa.select(seen_messages.c.finished_at).filter_by(**key)
        finished_at = (await connection.execute(whole)).scalar() or message.finished_at
        values = asdict(replace(message, finished_at=finished_at))
        await connection.execute(db.upsert(self._database, seen_messages, values))

    async def forget(self, team_id: str, channel_id: str, ts: str) -> None:
        """Drops a message that was deleted."""
        its = sa.delete(seen_messages)
        await self._database.execute(its.filter_by(team_id=team_id, channel_id=channel_id, ts=ts))

    async def drop(self, team_id: str, before: datetime) -> None:
        old = seen_messages.c.team_id == team_id, seen_messages.c.ts < to_ts(before)
        await self._database.execute(sa.delete(seen_messages).where(*old))

    async def of(
        self, team_id: str, channel_ids: Sequence[str], since: datetime
    ) -> Sequence[SeenMessage]:
        """The messages of some channels since then, with all of their threads."""
        which = (
            seen_messages.c.team_id == team_id,
            seen_messages.c.channel_id.in_(channel_ids),
            seen_messages.c.ts >= to_ts(since),
        )
        query = sa.select(*db.columns_of(seen_messages, SeenMessage)).where(*which)
        return [_to_message(row) for row in await self._database.all(query)]


def _to_message(row: sa.Row[Any]) -> SeenMessage:
    stored = SeenMessage(**row._mapping)
    return replace(stored, says=Says(stored.says))
