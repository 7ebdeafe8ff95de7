"""What is told or done once under a name, whatever process dies."""

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from bot.domain.standing import Subject
from bot.domain.watch import Watch
from bot.store import database as db
from bot.store.figures import Place
from bot.store.schema import notices


def day_of(moment: datetime) -> str:
    """The day in UTC, for instance 2026-11-22."""
    return f"{moment.astimezone(UTC):%Y-%m-%d}"


def key_of(of: Watch | Place | Subject) -> dict[str, str | None]:
    return {"team_id": of.team_id, "channel_id": of.channel_id, "author_id": of.author_id}


def recipient_key(of: Watch | Subject, name: str, to: str) -> dict[str, str | None]:
    return key_of(of) | {"name": name, "recipient": to}


class Notices(db.StoreQueries):
    """What each recipient of a watch is told once, by name: the intent is noted before the post,
    and then the post.
    """

    async def claim(
        self,
        watch: Watch | Subject,
        name: str,
        to: str,
        day: str,
        now: datetime,
        lease: timedelta = timedelta(minutes=5),
    ) -> datetime | None:
        """If this is ours to tell: since when it may have been told, or `now` if it was not.

        None if not ours.
        """
        key = recipient_key(watch, name, to)
        left = await self._database.one(sa.select(notices).filter_by(**key))
        if left and (left.posted_at or left.claimed_at > now - lease):
            return None
        is_left = sa.and_(notices.c.posted_at.is_(None), notices.c.claimed_at <= now - lease)
        ours = {"day": day, "claimed_at": now, "is_refused": None}
        if await db.claim(self._database, notices, key, ours, is_left) is None:
            return None
        since: datetime = left.claimed_at if left and not left.is_refused else now
        return since

    async def note_told(self, watch: Watch | Subject, name: str, to: str, now: datetime) -> None:
        its = sa.update(notices).filter_by(**recipient_key(watch, name, to))
        await self._database.execute(its.values(posted_at=now))
