"""Thumbs that people put under replies: a weak signal, kept apart from labels and from every figure of scores.

A thumb is one person's, up or down, under one reply. One that was taken back stays for a day as such: Slack may tell of
its being given only then, or once more.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, case, delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.label import Reaction
from bot.log.counts import Place, Span, ThumbCount
from bot.log.database import Database
from bot.log.schema import IS_TAKEN_BACK, cases, replies, thumbs
from bot.log.upserts import upsert
from bot.log.visibility import counts, is_watched
from bot.slack.mrkdwn import UP


class Thumbs:
    """Notes thumbs and counts them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, thumb: Reaction, *, is_watched: bool = False) -> None:
        """Notes a thumb as given or taken back; what was told later is right, whatever order it comes in.

        Only under a reply that was scored for the channel to see, or that a watch has seen, or will (`is_watched`).
        """
        if not (is_watched or await self._is_known(thumb)):
            return
        values = {
            "team_id": thumb.team_id,
            "channel_id": thumb.channel_id,
            "ts": thumb.ts,
            "user_id": thumb.user_id,
            "is_up": thumb.emoji == UP,
            "is_given": thumb.is_added,
            "changed_at": thumb.at,
        }
        await self._database.execute(upsert(self._database, thumbs, values, where=thumbs.c.changed_at < thumb.at))

    async def counts(self, place: Place, span: Span) -> Sequence[ThumbCount]:
        """The thumbs that were given in the span, by the replies' authors, most first."""
        within = and_(thumbs.c.changed_at >= span.start, thumbs.c.changed_at < span.end)
        here = and_(thumbs.c.team_id == place.team_id, thumbs.c.channel_id == place.channel_id)
        authors = _authors(thumbs.c.team_id, thumbs.c.channel_id, thumbs.c.ts)
        author_id = func.coalesce(*(each.scalar_subquery() for each in authors)).label("author_id")
        given = select(thumbs.c.ts, thumbs.c.is_up, author_id).where(here, within, thumbs.c.is_given).subquery()
        query = select(
            given.c.author_id,
            func.sum(case((given.c.is_up, 1), else_=0)).label("up"),
            func.sum(case((given.c.is_up, 0), else_=1)).label("down"),
            func.count(given.c.ts.distinct()).label("replies"),
        ).where(given.c.author_id.is_not(None))
        if place.author_id is not None:
            query = query.where(given.c.author_id == place.author_id)
        query = query.group_by(given.c.author_id).order_by(func.count().desc(), given.c.author_id)
        return await self._database.rows(ThumbCount, query)

    async def _is_known(self, thumb: Reaction) -> bool:
        for query in _authors(thumb.team_id, thumb.channel_id, thumb.ts):
            if await self._database.all(query):
                return True
        return False

    async def drop_older(self, before: datetime) -> int:
        """Deletes what was given or taken back before this time, and gives the number of rows."""
        return await self._database.execute(delete(thumbs).where(thumbs.c.changed_at < before))

    async def drop_taken_back(self, before: datetime) -> int:
        """Deletes what was taken back before this time, and gives the number of rows."""
        return await self._database.execute(delete(thumbs).where(IS_TAKEN_BACK, thumbs.c.changed_at < before))


async def drop_of_reply(connection: AsyncConnection, gone: Row[*tuple[Any, ...]]) -> None:
    """Deletes the thumbs under the reply of a case that is gone, unless another case of it is left."""
    here = and_(
        thumbs.c.team_id == gone.team_id, thumbs.c.channel_id == gone.channel_id, thumbs.c.ts == gone.message_ts
    )
    left = select(cases.c.id).where(_of_case(thumbs.c.team_id, thumbs.c.channel_id, thumbs.c.ts))
    await connection.execute(delete(thumbs).where(here, ~left.exists()))


def _authors(team_id: Any, channel_id: Any, ts: Any) -> Sequence[Select[tuple[str | None]]]:
    """Who wrote a reply that a watch has seen, and one that was scored for its channel to see."""
    is_seen = and_(replies.c.team_id == team_id, replies.c.channel_id == channel_id, replies.c.ts == ts)
    is_scored = and_(_of_case(team_id, channel_id, ts), or_(counts(cases), is_watched(cases)))
    return select(replies.c.author_id).where(is_seen), select(cases.c.author_id).where(is_scored).limit(1)


def _of_case(team_id: Any, channel_id: Any, ts: Any) -> ColumnElement[bool]:
    return and_(cases.c.team_id == team_id, cases.c.channel_id == channel_id, cases.c.message_ts == ts)
