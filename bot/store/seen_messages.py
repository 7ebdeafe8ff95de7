"""The messages of watched channels, ids and times without words, and the signs in their threads."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.outcome import ReadSigns
from bot.domain.questions import Says, SeenMessage, Thread
from bot.store import database as db
from bot.store.figures import to_ts
from bot.store.schema import forgotten, seen_messages, thread_signs, topics
from judge.evaluation.signs import Signs

HELD_FOR = timedelta(minutes=20)
"""Longer than a request to a model takes with all its retries."""
NO_AUTHOR: Mapping[str, Any] = {"author_id": "", "mentions": (), "text_hash": None}
"""What is changed of a message when its author is forgotten."""
_SIGNS = [field.name for field in fields(Signs)]


class AskedThread(NamedTuple):
    """A thread, and the assistant whose answer in it the signs are about."""

    team_id: str
    channel_id: str
    thread_ts: str
    author_id: str


class SeenMessages(db.StoreQueries):
    @db.in_transaction
    async def note(self, connection: AsyncConnection, message: SeenMessage) -> None:
        """Stores a message as it is now; when it was whole first stays, and what is heard later of
        a time before that is left out. What was read in its thread goes if a person has edited it.

        What a person wrote before they had their words forgotten is stored without its author.
        """
        if await _is_forgotten(connection, message):
            message = replace(message, **NO_AUTHOR)
        place = {"team_id": message.team_id, "channel_id": message.channel_id}
        known = sa.select(seen_messages).filter_by(**place, ts=message.ts)
        stored = (await connection.execute(known)).first()
        if stored and stored.finished_at and not message.finished_at:
            return
        if stored and stored.text_hash != message.text_hash:
            await connection.execute(_delete_signs({**place, "ts": message.ts}))
            about = sa.delete(topics).filter_by(**place, question_ts=message.ts)
            await connection.execute(about)
        if stored and stored.finished_at:
            message = replace(message, finished_at=stored.finished_at)
        await connection.execute(db.upsert(self._database, seen_messages, asdict(message)))

    @db.in_transaction
    async def forget(
        self, connection: AsyncConnection, team_id: str, channel_id: str, ts: str
    ) -> None:
        """Drops a message that was deleted, and what was read in its thread."""
        key = {"team_id": team_id, "channel_id": channel_id, "ts": ts}
        await connection.execute(_delete_signs(key))
        await connection.execute(sa.delete(seen_messages).filter_by(**key))

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
        query = sa.select(*db.columns_of(seen_messages, SeenMessage)).filter_by(team_id=team_id)
        is_there = seen_messages.c.channel_id.in_(channel_ids), seen_messages.c.ts >= to_ts(since)
        stored = await self._database.rows(SeenMessage, query.where(*is_there))
        return [replace(each, says=Says(each.says)) for each in stored]


class ThreadSigns(db.StoreQueries):
    """What a model has read in threads, for each assistant.

    A thread is claimed before the model is asked, so that two processes do not both pay. What was
    read is stored only if the claim is still there: it goes when the person is forgotten, or a
    message is edited or deleted meanwhile.
    """

    async def claim(self, thread: AskedThread, last_ts: str, now: datetime) -> datetime | None:
        """Until when the thread is ours to ask about, up to the message `last_ts`; None if another
        process holds it or has asked.
        """
        held_until = now + HELD_FOR
        is_left = thread_signs.c.held_until.is_(None) | (thread_signs.c.held_until <= now)
        is_free = is_left & (thread_signs.c.last_ts != last_ts)
        values = {"last_ts": "", "asked_at": now, "held_until": held_until}
        row = {**thread._asdict(), **values}
        claim = db.upsert(self._database, thread_signs, row, ("last_ts",), where=is_free)
        return held_until if await self._database.execute(claim) else None

    async def note(
        self, thread: AskedThread, held_until: datetime, signs: Signs | None, last_ts: str
    ) -> None:
        """Stores what was read up to the message `last_ts`, and gives the claim back."""
        ours = sa.update(thread_signs).filter_by(**thread._asdict(), held_until=held_until)
        read = ours.values(
            last_ts=last_ts,
            held_until=None,
            **(asdict(signs) if signs else dict.fromkeys(_SIGNS)),
        )
        await self._database.execute(read)

    async def asked(self, team_id: str, since: datetime) -> Sequence[sa.Row[Any]]:
        """The threads that were asked about since then."""
        query = sa.select(thread_signs).filter_by(team_id=team_id)
        return await self._database.all(query.where(thread_signs.c.asked_at >= since))

    async def of(
        self, team_id: str, channel_ids: Sequence[str], author_id: str
    ) -> Mapping[Thread, ReadSigns]:
        """The signs that were read for certain."""
        query = sa.select(thread_signs).filter_by(team_id=team_id, author_id=author_id)
        here = query.where(thread_signs.c.channel_id.in_(channel_ids))
        found = dict[Thread, ReadSigns]()
        for row in await self._database.all(here.where(thread_signs.c.confirmed.is_not(None))):
            signs = Signs(*(row._mapping[name] for name in _SIGNS))
            found[row.channel_id, row.thread_ts] = ReadSigns(signs, row.last_ts)
        return found


async def _is_forgotten(connection: AsyncConnection, message: SeenMessage) -> bool:
    author = {"team_id": message.team_id, "user_id": message.author_id}
    forgetting = sa.select(forgotten.c.at).filter_by(**author)
    is_later = forgotten.c.at >= message.at
    return (await connection.execute(forgetting.where(is_later))).first() is not None


def _delete_signs(key: Mapping[str, str]) -> sa.Delete:
    """Drops what was read in the thread of a message."""
    thread_ts = sa.select(seen_messages.c.thread_ts).filter_by(**key).scalar_subquery()
    place = {name: key[name] for name in ("team_id", "channel_id")}
    return sa.delete(thread_signs).filter_by(**place, thread_ts=thread_ts)
