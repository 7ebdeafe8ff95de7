"""Which alerts were sent, so that each is sent once, and one a day of each watch at most."""

from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import ColumnElement, and_, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from bot.domain.watch import Watch
from bot.log.database import Database
from bot.log.schema import alerts

_LEASE = timedelta(minutes=5)


class AlertKind(StrEnum):
    """What an alert says: the assistant is worse than before, below its floor, or gone, or its watch has no scores."""

    WORSE = "worse"
    BELOW = "below"
    SILENT = "silent"
    GONE = "gone"


class Alerts:
    """Reads and writes the alerts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def last(self, watch: Watch, kind: AlertKind) -> datetime | None:
        """When an alert of that kind was posted last."""
        query = select(func.max(alerts.c.posted_at).label("at")).where(_are_of(watch), alerts.c.kind == kind)
        row = await self._database.one(query)
        return row.at if row else None

    async def claim(self, watch: Watch, kind: AlertKind, now: datetime) -> bool:
        """Whether today's alert of this watch is ours to post; who claimed one and died leaves it to others."""
        values = {"kind": kind, "claimed_at": now}
        key = {"team_id": watch.team_id, "channel_id": watch.channel_id, "author_id": watch.author_id, "day": _day(now)}
        try:
            await self._database.execute(insert(alerts).values(key | values))
            return True
        except IntegrityError:
            is_left = and_(alerts.c.posted_at.is_(None), alerts.c.claimed_at <= now - _LEASE)
            taken = update(alerts).where(_are_of(watch), alerts.c.day == _day(now), is_left).values(values)
            return await self._database.execute(taken) == 1

    async def note_posted(self, watch: Watch, now: datetime) -> None:
        """Records that today's alert is posted."""
        is_it = and_(_are_of(watch), alerts.c.day == _day(now))
        await self._database.execute(update(alerts).where(is_it).values(posted_at=now))


def _are_of(watch: Watch) -> ColumnElement[bool]:
    return and_(
        alerts.c.team_id == watch.team_id,
        alerts.c.channel_id == watch.channel_id,
        alerts.c.author_id == watch.author_id,
    )


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"
