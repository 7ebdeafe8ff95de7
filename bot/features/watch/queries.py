"""Channels' watches as they are set and ended, how far their channels have been read, and their
alerts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.clock import utc_now
from bot.domain.standing import Subject
from bot.domain.watch import Watch
from bot.figures.quality import grouped
from bot.store import database as db
from bot.store.audit import Act, Action, note
from bot.store.figures import Place
from bot.store.notices import key_of
from bot.store.schema import IS_WAITED_FOR, audit, releases, replies, standings, watches
from bot.store.visibility import Origin
from bot.store.watches import EVERYWHERE, JUDGE, Watches


def watched(watch: Watch) -> Place:
    return Place(
        watch.team_id, watch.channel_id, watch.author_id, Origin.WATCHED, others=watch.channels
    )


def is_order(watch: Watch) -> bool:
    """Whether it is for all public channels."""
    return watch.channel_id == EVERYWHERE


@dataclass(frozen=True)
class Unread:
    """A watched channel that could not be read for an hour: up to when it was read, and Slack's
    error since then.
    """

    since: datetime
    reason: str


class WatchOrders(Watches):
    async def find(self, team_id: str, channel_id: str, author_id: str) -> Watch | None:
        """A channel's watch, or an order with the channels that it is followed in."""
        watches = self.of(team_id, channel_id) if channel_id else self.everywhere(team_id)
        for watch in await watches:
            if watch.author_id == author_id:
                return watch
        return None

    async def by_channel(self, team_id: str) -> Mapping[str, Mapping[str, Watch]]:
        """The watches of a workspace by the ids of channel and assistant."""
        by_channel = grouped((watch.channel_id, watch) for watch in await self.of(team_id))
        return {
            channel_id: {watch.author_id: watch for watch in here}
            for channel_id, here in by_channel.items()
        }

    async def everywhere(self, team_id: str) -> Sequence[Watch]:
        """The orders for all public channels, with those that they are followed in."""
        orders = await self.of(team_id, EVERYWHERE)
        if not orders:
            return ()
        derived = await self._watches(team_id, watches.c.is_derived)
        channels = grouped((watch.author_id, watch.channel_id) for watch in derived)
        return [
            replace(order, channels=tuple(channels.get(order.author_id, ()))) for order in orders
        ]

    async def told_of(self, team_id: str) -> Sequence[Watch]:
        """The watches that people are told of: an order in place of those that follow from it."""
        own = await self._watches(team_id, sa.not_(watches.c.is_derived))
        orders = await self.everywhere(team_id)
        return [*(watch for watch in own if not is_order(watch)), *orders]

    @db.in_transaction
    async def derive(
        self, connection: AsyncConnection, followed: Sequence[Watch], ended: Sequence[Watch]
    ) -> None:
        """Records the watches that follow from orders, and deletes those that do not any more.

        A watch that somebody has set in that channel meanwhile stays.
        """
        for watch in followed:
            await connection.execute(self._upsert(watch, watches.c.is_derived))
        for watch in ended:
            await _delete(connection, watch, is_derived=True)

    def _upsert(self, watch: Watch, where: sa.ColumnElement[bool] | None = None) -> sa.Insert:
        now = utc_now()
        values = asdict(watch) | {"look_at": now, "read_until": now}
        del values["channels"]
        kept = ("since", "look_at", "read_until")
        return db.upsert(self._database, watches, values, kept, where)

    @db.in_transaction
    async def leave_out(
        self, connection: AsyncConnection, order: Watch, channel_id: str, by: str
    ) -> bool:
        """Ends the watch in a channel in which an order is not to be followed any more; whether
        there was one.
        """
        watch = replace(order, channel_id=channel_id)
        if not await _delete(connection, watch):
            return False
        left_out = tuple(dict.fromkeys((*order.except_in, channel_id)))
        excepting = sa.update(watches).filter_by(**key_of(order)).values(except_in=left_out)
        await connection.execute(excepting)
        await note(connection, [_act(watch, by, Action.WATCH_ENDED)])
        return True

    @db.in_transaction
    async def save(self, connection: AsyncConnection, watch: Watch, by: str) -> None:
        await connection.execute(self._upsert(watch))
        await note(connection, [_act(watch, by, Action.WATCH_SET)])

    @db.in_transaction
    async def begin_look(
        self,
        connection: AsyncConnection,
        team_id: str,
        channel_id: str,
        now: datetime,
        every: timedelta,
    ) -> datetime | None:
        """Up to when a channel was read, if this process is to read it now; otherwise None.

        The next look is due after `every`.
        """
        place = {"team_id": team_id, "channel_id": channel_id}
        take = (
            sa.update(watches)
            .filter_by(**place)
            .where(watches.c.look_at <= now)
            .values(look_at=now + every)
        )
        read_until = sa.select(sa.func.min(watches.c.read_until)).filter_by(**place)
        taken = await connection.execute(take)
        return (await connection.execute(read_until)).scalar() if taken.rowcount else None

    async def set_by(self, watch: Watch) -> str:
        """Who has set a watch last, or the order that it follows from; empty if that is not known."""
        acts = sa.select(audit.c.who).filter_by(
            what=Action.WATCH_SET,
            team_id=watch.team_id,
            channel_id=EVERYWHERE if watch.is_derived else watch.channel_id,
            user_id=watch.author_id,
        )
        who: str | None = await self._database.value(acts.order_by(audit.c.id.desc()).limit(1))
        return who or ""

    async def note_read(self, team_id: str, channel_id: str, until: datetime) -> None:
        """Records that everything written in a channel until then has been found."""
        here = sa.update(watches).filter_by(team_id=team_id, channel_id=channel_id)
        await self._database.execute(here.values(read_until=until, not_read=None))

    async def note_not_read(
        self, team_id: str, channel_id: str, reason: str, look_at: datetime
    ) -> None:
        """Records that a look failed, with Slack's error; the next one goes on from where the last
        good one ended.
        """
        here = sa.update(watches).filter_by(team_id=team_id, channel_id=channel_id)
        await self._database.execute(here.values(not_read=reason, look_at=look_at))

    async def note_privacy(self, watch: Watch, *, is_private: bool) -> None:
        here = sa.update(watches).filter_by(team_id=watch.team_id, channel_id=watch.channel_id)
        await self._database.execute(here.values(is_private=is_private))

    async def unread(self, team_id: str, now: datetime) -> Mapping[str, Unread]:
        """The watched channels, by id, that could not be read for an hour."""
        is_unread = sa.and_(
            watches.c.not_read.is_not(None), watches.c.read_until <= now - timedelta(hours=1)
        )
        query = sa.select(watches.c.channel_id, watches.c.read_until, watches.c.not_read).filter_by(
            team_id=team_id
        )
        rows = await self._database.all(query.where(is_unread))
        return {row.channel_id: Unread(row.read_until, row.not_read) for row in rows}

    @db.in_transaction
    async def end(self, connection: AsyncConnection, watch: Watch, by: str) -> bool:
        """Whether there was a watch to end."""
        if not await _delete(connection, watch):
            return False
        await note(connection, [_act(watch, by, Action.WATCH_ENDED)])
        return True


async def _delete(connection: AsyncConnection, watch: Watch, **which: object) -> bool:
    """Whether there was such a watch, which is deleted.

    What it has scored stays; replies that wait to be scored are dropped.
    """
    its = sa.delete(watches).filter_by(**key_of(watch), **which)
    if not (await connection.execute(its)).rowcount:
        return False
    waiting = sa.delete(replies).filter_by(**key_of(watch)).where(IS_WAITED_FOR)
    await connection.execute(waiting)
    return True


def _act(watch: Watch, by: str, what: Action) -> Act:
    return Act(watch.team_id, by, what, channel_id=watch.channel_id, user_id=watch.author_id)


@dataclass(frozen=True)
class Release:
    """A change of an assistant that somebody marked, in all public channels if `channel_id` is
    empty.

    `day` is that of `set_at` by the workspace's clock.
    """

    id: int
    team_id: str
    channel_id: str
    author_id: str
    set_by: str
    set_at: datetime
    day: date
    note: str
    taken_back_by: str | None = None
    taken_back_at: datetime | None = None

    @property
    def subject(self) -> Subject:
        return Subject(self.team_id, self.channel_id, self.author_id)


class Releases(db.StoreQueries):
    async def of(self, place: Place) -> Sequence[Release]:
        """Those that a channel sees and that were not taken back, the newest first: its own, and
        if it is public, those of the assistants that it watches.

        If the place names an author, only that author's.
        """
        is_seen = _is_seen_in(place)
        if place.author_id is not None:
            is_seen = sa.and_(is_seen, releases.c.author_id == place.author_id)
        return await self._rows(is_seen)

    async def of_subject(self, subject: Subject) -> Sequence[Release]:
        """Those by people that were not taken back, the newest first."""
        is_its = (
            releases.c.team_id == subject.team_id,
            releases.c.channel_id == subject.channel_id,
            releases.c.author_id == subject.author_id,
        )
        return await self._rows(*is_its, releases.c.set_by != JUDGE)

    async def to_compare(self, team_id: str, since: datetime) -> Sequence[Release]:
        """Those by people since then whose effect is not known yet, the newest first."""
        known = sa.select(standings.c.release_id).where(standings.c.release_id.is_not(None))
        is_open = releases.c.set_by != JUDGE, releases.c.id.not_in(known)
        return await self._rows(releases.c.team_id == team_id, releases.c.set_at >= since, *is_open)

    async def to_announce(self, team_id: str) -> Sequence[Release]:
        """Those of which it is still to be told that they were marked, or taken back."""
        query = _RELEASES.where(
            releases.c.team_id == team_id,
            releases.c.set_by != JUDGE,
            releases.c.announced_at.is_(None),
        )
        return await self._database.rows(Release, query.order_by(releases.c.id))

    async def find(self, place: Place, number: int) -> Release | None:
        """The release with this number, taken back or not; None if the channel does not see it."""
        query = _RELEASES.where(_is_seen_in(place), releases.c.id == number)
        return await self._database.first(Release, query.where(releases.c.set_by != JUDGE))

    @db.in_transaction
    async def add(
        self,
        connection: AsyncConnection,
        subject: Subject,
        note: str,
        by: str,
        now: datetime,
        day: date,
    ) -> Release:
        """Marks a release."""
        values = key_of(subject) | {"note": note, "set_by": by, "set_at": now, "day": day}
        added = sa.insert(releases).values(values).returning(*_COLUMNS)
        return Release(**(await connection.execute(added)).one()._mapping)

    async def note_announced(self, release: Release, now: datetime) -> None:
        # A release that was taken back meanwhile is announced once more.
        is_same = releases.c.taken_back_at.is_not_distinct_from(release.taken_back_at)
        its = sa.update(releases).filter_by(id=release.id).where(is_same)
        await self._database.execute(its.values(announced_at=now))

    async def take_back(self, release: Release, by: str, now: datetime) -> bool:
        """Whether it was not taken back before; who was told of it is to be told of this, too."""
        its = sa.update(releases).filter_by(id=release.id, taken_back_at=None)
        values = {"taken_back_by": by, "taken_back_at": now, "announced_at": None}
        return await self._database.execute(its.values(values)) == 1

    async def _rows(self, *which: sa.ColumnElement[bool]) -> Sequence[Release]:
        query = _RELEASES.where(releases.c.taken_back_at.is_(None), *which)
        newest_first = query.order_by(releases.c.set_at.desc(), releases.c.id.desc())
        return await self._database.rows(Release, newest_first)


_COLUMNS = db.columns_of(releases, Release)
_RELEASES = sa.select(*_COLUMNS)


def _is_seen_in(place: Place) -> sa.ColumnElement[bool]:
    watched = sa.select(watches.c.author_id).where(
        watches.c.team_id == place.team_id,
        watches.c.channel_id == place.channel_id,
        sa.not_(watches.c.is_private),
    )
    is_public = sa.and_(releases.c.channel_id == "", releases.c.author_id.in_(watched))
    is_own = releases.c.channel_id == place.channel_id
    return sa.and_(releases.c.team_id == place.team_id, sa.or_(is_own, is_public))
