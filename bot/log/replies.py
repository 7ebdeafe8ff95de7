"""The replies that watches have seen: which were drawn, and what has become of them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, delete, func, or_, select, update
from sqlalchemy.sql import Update

from bot.domain.case import LoggedCase
from bot.domain.watch import Coverage, Fate, SeenReply, Used, Watch, draws
from bot.log.counts import Place
from bot.log.database import Database
from bot.log.schema import IS_WAITED_FOR, cases, replies
from bot.log.spending import TAKEN
from bot.log.upserts import insert_new
from bot.log.visibility import is_watched

_AT_ONCE = 100
_FOR_EVER = "9999-12-31"


class Replies:
    """Notes replies when they are seen, and what has become of those that were drawn.

    A reply is noted once, however often it is told of, and by however many processes.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, reply: SeenReply, watch: Watch, rests_at: datetime) -> int:
        """Notes a reply as it is seen now, if it is new, and gives how many were: 1 or 0."""
        drawn = {"probability": watch.share, "fate": None if draws(watch, reply.ts) else Fate.PASSED}
        values = asdict(reply) | drawn | {"rests_at": rests_at, "day": reply.day}
        return await self._database.execute(insert_new(self._database, replies, values))

    async def due(self, team_id: str, now: datetime) -> Sequence[tuple[SeenReply, float]]:
        """Replies that were drawn and have been at rest, with the probability of the draw; the longest first."""
        columns = [replies.c[each.name] for each in fields(SeenReply)]
        query = select(*columns, replies.c.probability).where(
            IS_WAITED_FOR, replies.c.team_id == team_id, replies.c.rests_at <= now
        )
        rows = await self._database.all(query.order_by(replies.c.rests_at, replies.c.ts).limit(_AT_ONCE))
        return [(_to_reply(row), row.probability) for row in rows]

    async def wait_on(self, reply: SeenReply, rests_at: datetime) -> None:
        """The reply says something else than when it was seen last, and is looked at again then.

        One that nobody waits for stays as it is.
        """
        values = {"text_hash": reply.text_hash, "rests_at": rests_at}
        await self._database.execute(update(replies).where(_is(reply), IS_WAITED_FOR).values(values))

    async def settle(self, reply: SeenReply, fate: Fate) -> None:
        """Records what has become of a reply; what has become of it once stays so."""
        await self._database.execute(update(replies).where(_is(reply), IS_WAITED_FOR).values(fate=fate, text_hash=None))

    async def coverage(self, place: Place, since: str, until: str = _FOR_EVER) -> Mapping[str, Coverage]:
        """What has become of an assistant's replies, by day, from one day to another, as `SeenReply.day` says them."""
        query = select(replies.c.day, replies.c.fate, func.count().label("number"))
        query = query.where(_are_of(place), replies.c.day.between(since, until))
        found: dict[str, dict[Fate | None, int]] = {}
        for row in await self._database.all(query.group_by(replies.c.day, replies.c.fate)):
            found.setdefault(row.day, {})[row.fate and Fate(row.fate)] = row.number
        return {day: Coverage(fates) for day, fates in found.items()}

    async def last_day(self, place: Place) -> str | None:
        """The day of an assistant's newest reply, as `SeenReply.day` says it."""
        query = select(replies.c.day).where(_are_of(place)).order_by(replies.c.day.desc()).limit(1)
        row = await self._database.one(query)
        return row.day if row else None

    async def used(self, reply: SeenReply, question_ts: str) -> Used:
        """What the other watched replies of its day have used up."""
        is_its, is_of_question = cases.c.author_id == reply.author_id, cases.c.question_ts == question_ts
        query = select(
            func.count().filter(is_its).label("replies"),
            func.count().filter(is_its, is_of_question).label("of_question"),
            func.coalesce(func.sum(TAKEN), 0).label("tokens"),
        ).where(_are_watched_on_the_day_of(reply), cases.c.message_ts != reply.ts)
        (used,) = await self._database.rows(Used, query)
        return used

    async def expected(self, place: Place, since: datetime, until: datetime) -> int:
        """How many of an assistant's replies should have a score, of those that were at rest in that time."""
        is_meant = or_(replies.c.fate.is_(None), replies.c.fate.in_((Fate.TAKEN, Fate.MISSED)))
        within = and_(replies.c.rests_at >= since, replies.c.rests_at < until)
        query = select(func.count().label("number")).where(_are_of(place), is_meant, within)
        row = await self._database.one(query)
        return int(row.number) if row else 0

    async def drop_older(self, before: datetime) -> int:
        """Deletes what was seen before this time, and gives the number of rows."""
        return await self._database.execute(delete(replies).where(replies.c.day < f"{before:%Y-%m-%d}"))


def miss(case: LoggedCase) -> Update:
    """Notes that the reply of a watched case has no score."""
    its_reply = (
        replies.c.team_id == case.team_id,
        replies.c.channel_id == case.channel_id,
        replies.c.ts == case.message_ts,
    )
    return update(replies).where(*its_reply).values(fate=Fate.MISSED)


def _to_reply(row: Row[Any]) -> SeenReply:
    return SeenReply(**{each.name: getattr(row, each.name) for each in fields(SeenReply)})


def _are_of(place: Place) -> ColumnElement[bool]:
    return and_(
        replies.c.team_id == place.team_id,
        replies.c.channel_id == place.channel_id,
        replies.c.author_id == place.author_id,
    )


def _are_watched_on_the_day_of(reply: SeenReply) -> ColumnElement[bool]:
    """By the messages' own times, which the index has in their order: all are as long as each other."""
    start = datetime.fromisoformat(reply.day).replace(tzinfo=UTC)
    return and_(
        cases.c.team_id == reply.team_id,
        cases.c.channel_id == reply.channel_id,
        cases.c.message_ts >= f"{start.timestamp():.0f}",
        cases.c.message_ts < f"{(start + timedelta(days=1)).timestamp():.0f}",
        is_watched(cases),
    )


def _is(reply: SeenReply) -> ColumnElement[bool]:
    return and_(replies.c.team_id == reply.team_id, replies.c.channel_id == reply.channel_id, replies.c.ts == reply.ts)
