"""The messages of watched channels, ids and times without words, and the signs in their threads."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.outcome import Says, SeenMessage, Thread
from bot.store import database as db
from bot.store.figures import to_ts
from bot.store.schema import forgotten, seen_messages, thread_signs
from judge.evaluation.signs import Signs


class AskedThread(NamedTuple):
    """A thread, and the assistant whose answer in it the signs are about."""

    team_id: str
    channel_id: str
    thread_ts: str
    author_id: str


class SeenMessages(db.StoreQueries):
    @db.in_transaction
    async def note(self, connection: AsyncConnection, message: SeenMessage) -> None:
        """Stores a message as it is now; when it was whole first stays.

        What a person wrote before they had their words forgotten is not stored again.
        """
        is_forgotten = sa.select(forgotten.c.at).where(
            forgotten.c.team_id == message.team_id,
            forgotten.c.user_id == message.author_id,
            forgotten.c.at >= message.at,
        )
        if (await connection.execute(is_forgotten)).first():
            return
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
        for table, ts in (
            (seen_messages, seen_messages.c.ts),
            (thread_signs, thread_signs.c.thread_ts),
        ):
            old = table.c.team_id == team_id, ts < to_ts(before)
            await self._database.execute(sa.delete(table).where(*old))

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


class ThreadSigns(db.StoreQueries):
    """What a model has read in threads, for each assistant."""

    async def note(
        self, thread: AskedThread, signs: Signs | None, last_ts: str, now: datetime
    ) -> None:
        values = {
            **thread._asdict(),
            "last_ts": last_ts,
            "asked_at": now,
            "confirmed": signs and signs.confirmed,
            "thanked": signs and signs.thanked,
            "contested": signs and signs.contested,
            "handed_over": signs and signs.handed_over,
        }
        await self._database.execute(db.upsert(self._database, thread_signs, values))

    async def read_until(self, team_id: str, since: datetime) -> Mapping[AskedThread, str]:
        """The last message that was read, of each thread that was asked about since then."""
        query = sa.select(thread_signs).filter_by(team_id=team_id)
        rows = await self._database.all(query.where(thread_signs.c.asked_at >= since))
        return {_to_thread(row): row.last_ts for row in rows}

    async def of(
        self, team_id: str, channel_ids: Sequence[str], author_id: str
    ) -> Mapping[Thread, Signs]:
        """The signs that were read for certain."""
        query = sa.select(thread_signs).filter_by(team_id=team_id, author_id=author_id)
        here = query.where(thread_signs.c.channel_id.in_(channel_ids))
        return {
            (row.channel_id, row.thread_ts): Signs(
                row.confirmed, row.thanked, row.contested, row.handed_over
            )
            for row in await self._database.all(here)
            if row.confirmed is not None
        }


def _to_thread(row: sa.Row[Any]) -> AskedThread:
    return AskedThread(row.team_id, row.channel_id, row.thread_ts, row.author_id)


def _to_message(row: sa.Row[Any]) -> SeenMessage:
    stored = SeenMessage(**row._mapping)
    return replace(stored, says=Says(stored.says))
