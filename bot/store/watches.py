"""Channels' watches, the replies that they have seen, and the alerts that were sent."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from secrets import token_hex
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql import Update

from bot.domain.case import LoggedCase
from bot.domain.clock import utc_now
from bot.domain.watch import Coverage, ReplyOutcome, SeenReply, Shows, Unread, Used, Watch, draws, together
from bot.store import database as db
from bot.store import figures, schema
from bot.store.audit import Act, Action, note
from bot.store.database import claim
from bot.store.visibility import is_watched

_TESTS_EVERY = timedelta(minutes=1)
_UNREAD_FOR = timedelta(hours=1)


class Watches(db.StoreQueries):
    async def of(self, team_id: str, channel_id: str | None = None) -> Sequence[Watch]:
        query = sa.select(*db.columns_of(schema.watches, Watch)).filter_by(team_id=team_id)
        if channel_id is not None:
            query = query.filter_by(channel_id=channel_id)
        return await self._database.rows(
            _to_watch, query.order_by(schema.watches.c.channel_id, schema.watches.c.author_id)
        )

    async def find(self, team_id: str, channel_id: str, author_id: str) -> Watch | None:
        return next((each for each in await self.of(team_id, channel_id) if each.author_id == author_id), None)

    async def save(self, watch: Watch, by: str) -> None:
        now = utc_now()
        values = asdict(watch) | {"look_at": now, "read_until": now, "updated_at": now}
        statement = db.upsert(self._database, schema.watches, values, keep=("since", "look_at", "read_until"))

        async def save(connection: AsyncConnection) -> None:
            await connection.execute(statement)
            await note(connection, [_act(watch, by, Action.WATCH_SET)])

        await self._database.write(save)

    async def begin_look(self, team_id: str, channel_id: str, now: datetime, every: timedelta) -> datetime | None:
        """Up to when a channel was read, if this process is to read it now; otherwise None.

        The next look is due after `every`.
        """
        place = {"team_id": team_id, "channel_id": channel_id}
        take = (
            sa.update(schema.watches)
            .filter_by(**place)
            .where(schema.watches.c.look_at <= now)
            .values(look_at=now + every)
        )
        read_until = sa.select(sa.func.min(schema.watches.c.read_until)).filter_by(**place)

        async def begin(connection: AsyncConnection) -> datetime | None:
            taken = await connection.execute(take)
            return (await connection.execute(read_until)).scalar() if taken.rowcount else None

        return await self._database.write(begin)

    async def note_read(self, team_id: str, channel_id: str, until: datetime) -> None:
        """Records that everything written in a channel until then has been found."""
        here = sa.update(schema.watches).filter_by(team_id=team_id, channel_id=channel_id)
        await self._database.execute(here.values(read_until=until, not_read=None))

    async def note_not_read(self, team_id: str, channel_id: str, reason: str, look_at: datetime) -> None:
        """Records that a look failed, with Slack's error; the next one goes on from where the last good one ended."""
        here = sa.update(schema.watches).filter_by(team_id=team_id, channel_id=channel_id)
        await self._database.execute(here.values(not_read=reason, look_at=look_at))

    async def unread(self, team_id: str, now: datetime) -> Mapping[str, Unread]:
        """The watched channels, by id, that could not be read for an hour."""
        is_unread = sa.and_(schema.watches.c.not_read.is_not(None), schema.watches.c.read_until <= now - _UNREAD_FOR)
        query = sa.select(
            schema.watches.c.channel_id, schema.watches.c.read_until, schema.watches.c.not_read
        ).filter_by(team_id=team_id)
        rows = await self._database.all(query.where(is_unread))
        return {row.channel_id: Unread(row.read_until, row.not_read) for row in rows}

    async def begin_test(self, watch: Watch, now: datetime) -> bool:
        """Whether a test alert is ours to send: at most one a minute is sent, whatever process it is asked from."""
        is_over = sa.or_(schema.watches.c.tested_at.is_(None), schema.watches.c.tested_at <= now - _TESTS_EVERY)
        taken = sa.update(schema.watches).filter_by(**_of(watch)).where(is_over).values(tested_at=now)
        return await self._database.execute(taken) == 1

    async def note_judge(self, watch: Watch, version: str | None) -> bool:
        """Whether another judge now scores for a watch: True for the first process that asks, and then not again."""
        its = sa.select(schema.watches.c.judge_version).filter_by(**_of(watch))

        async def note(connection: AsyncConnection) -> bool:
            earlier = (await connection.execute(its)).scalar()
            if earlier == version:
                return False
            is_still = schema.watches.c.judge_version.is_not_distinct_from(earlier)
            noted = sa.update(schema.watches).filter_by(**_of(watch)).where(is_still).values(judge_version=version)
            return (await connection.execute(noted)).rowcount == 1 and earlier is not None

        return await self._database.write(note)

    async def end(self, watch: Watch, by: str) -> bool:
        """Whether there was a watch to end. What it has scored stays; replies that wait to be scored are dropped."""

        async def end(connection: AsyncConnection) -> bool:
            await connection.execute(sa.delete(schema.replies).filter_by(**_of(watch)).where(schema.IS_WAITED_FOR))
            if not (await connection.execute(sa.delete(schema.watches).filter_by(**_of(watch)))).rowcount:
                return False
            await note(connection, [_act(watch, by, Action.WATCH_ENDED)])
            return True

        return await self._database.write(end)


def _of(of: Watch | figures.Place) -> dict[str, str | None]:
    return {"team_id": of.team_id, "channel_id": of.channel_id, "author_id": of.author_id}


def _act(watch: Watch, by: str, what: Action) -> Act:
    return Act(watch.team_id, by, what, channel_id=watch.channel_id, user_id=watch.author_id)


def _to_watch(shows: str, **columns: Any) -> Watch:
    return Watch(shows=Shows(shows), **columns)


_DRAW = "draw"
_TURN = 5
_FOR_EVER = "9999-12-31"
_GOES_ON = ReplyOutcome.TAKEN, ReplyOutcome.NO_ANSWER, ReplyOutcome.DELETED


class Replies(db.StoreQueries):
    """Records replies when they are seen, and what happened to those that were drawn.

    A reply is recorded once, however often and to however many processes Slack reports it.
    """

    _key: bytes | None = None

    async def draws(self, watch: Watch, ts: str) -> bool:
        """Whether the reply with this timestamp is in the watch's share, by the key of this installation."""
        if self._key is None:
            await self._database.execute(
                db.insert_new(self._database, schema.keys, {"name": _DRAW, "value": token_hex(32)})
            )
            self._key = bytes.fromhex(await self._database.value(sa.select(schema.keys.c.value).filter_by(name=_DRAW)))
        return draws(watch, ts, self._key)

    async def part_of(self, message: SeenReply) -> SeenReply | None:
        """The reply that a message of an assistant is part of, as far as is known; itself, if it is its first."""
        here = _in_thread_of(message.team_id, message.channel_id, message.parent_ts or message.ts)
        goes_on = sa.or_(schema.replies.c.ended_ts.is_(None), schema.replies.c.ended_ts > message.ts)
        is_its = sa.and_(
            schema.replies.c.author_id == message.author_id,
            schema.replies.c.outcome.is_distinct_from(ReplyOutcome.PART),
        )
        is_earlier = sa.and_(schema.replies.c.ts < message.ts, goes_on) if message.parent_ts else sa.false()
        query = sa.select(*db.columns_of(schema.replies, SeenReply)).where(
            here, is_its, sa.or_(schema.replies.c.ts == message.ts, is_earlier)
        )
        return await self._database.first(SeenReply, query.order_by(schema.replies.c.ts.desc()))

    async def go_on(self, reply: SeenReply, ts: str, rests_at: datetime | None) -> bool:
        """Records that a reply has a further message, and waits for it to rest; returns whether that is news.

        A reply that was scored, had no words, or whose words in advance were deleted, waits once more. Without
        `rests_at`, it is looked at as planned.
        """
        waits = sa.or_(schema.IS_WAITED_FOR, schema.replies.c.outcome.in_(_GOES_ON))
        is_news = sa.or_(schema.replies.c.last_ts.is_(None), schema.replies.c.last_ts < ts)
        changes = {"last_ts": ts, "outcome": None} | ({"rests_at": rests_at} if rests_at else {})
        going_on = sa.update(schema.replies).filter_by(**_key_of(reply)).where(waits, is_news).values(changes)
        return bool(await self._database.execute(going_on))

    async def end_before(self, team_id: str, channel_id: str, parent_ts: str, author_id: str | None, ts: str) -> None:
        """Records that a message in a thread ends the replies of all others there: what they add is another reply."""
        goes_on = sa.or_(schema.replies.c.ended_ts.is_(None), schema.replies.c.ended_ts > ts)
        is_others = sa.and_(schema.replies.c.author_id != (author_id or ""), schema.replies.c.ts < ts, goes_on)
        here = sa.and_(_in_thread_of(team_id, channel_id, parent_ts), is_others)
        # Most threads have none, so this looks without the writers' lock.
        if await self._database.values(sa.select(schema.replies.c.ts).where(here).limit(1)):
            await self._database.execute(sa.update(schema.replies).where(here).values(ended_ts=ts))

    async def rename(self, reply: SeenReply, ts: str) -> SeenReply | None:
        """The reply with another first message, since its own is deleted; None if that message is known as a reply."""
        try:
            await self._database.execute(sa.update(schema.replies).filter_by(**_key_of(reply)).values(ts=ts))
        except IntegrityError:
            return None
        return replace(reply, ts=ts)

    async def note(self, reply: SeenReply, watch: Watch, rests_at: datetime) -> int:
        """Records a reply as it is seen now, if it is new; returns the number of new replies, 1 or 0."""
        is_drawn = await self.draws(watch, reply.ts)
        drawn = {"probability": watch.share, "outcome": None if is_drawn else ReplyOutcome.PASSED}
        values = asdict(reply) | drawn | {"rests_at": rests_at, "day": reply.day}
        return await self._database.execute(db.insert_new(self._database, schema.replies, values))

    async def due(
        self, team_id: str, now: datetime, without: Collection[str] = ()
    ) -> Sequence[tuple[SeenReply, float]]:
        """Replies that were drawn and have come to rest, with the probability of the draw; at most five of each watch.

        Of each watch, those that have rested longest come first; `without` are channels to leave out.
        """
        order = schema.replies.c.rests_at, schema.replies.c.ts
        turn = sa.func.row_number().over(
            partition_by=(schema.replies.c.channel_id, schema.replies.c.author_id), order_by=order
        )
        is_due = sa.and_(schema.IS_WAITED_FOR, schema.replies.c.team_id == team_id, schema.replies.c.rests_at <= now)
        columns = *db.columns_of(schema.replies, SeenReply), schema.replies.c.probability, turn.label("turn")
        found = sa.select(*columns).where(is_due, schema.replies.c.channel_id.not_in(without)).subquery()
        rows = await self._database.all(sa.select(found).where(found.c.turn <= _TURN).order_by(found.c.turn))
        names = [each.name for each in fields(SeenReply)]
        return [(SeenReply(**{name: getattr(row, name) for name in names}), row.probability) for row in rows]

    async def wait_on(self, reply: SeenReply, rests_at: datetime, *, is_edited: bool = False) -> None:
        """Records that the reply's text has changed since it was last seen; it is looked at again at `rests_at`.

        A reply that no longer waits stays as it is; if `is_edited`, it waits once more as one that goes on.
        """
        waits = (
            sa.or_(schema.IS_WAITED_FOR, schema.replies.c.outcome.in_(_GOES_ON)) if is_edited else schema.IS_WAITED_FOR
        )
        changes = {"text_hash": reply.text_hash, "rests_at": rests_at, "outcome": None}
        await self._database.execute(sa.update(schema.replies).filter_by(**_key_of(reply)).where(waits).values(changes))

    async def settle(self, reply: SeenReply, outcome: ReplyOutcome) -> None:
        """Records the outcome of a reply; one that was recorded stays, and one that has gone on since waits again."""
        is_same = schema.replies.c.last_ts.is_not_distinct_from(reply.last_ts)
        waiting = sa.update(schema.replies).filter_by(**_key_of(reply)).where(schema.IS_WAITED_FOR, is_same)
        await self._database.execute(waiting.values(outcome=outcome, text_hash=None))

    async def coverage(self, place: figures.Place, since: str, until: str = _FOR_EVER) -> Mapping[str, Coverage]:
        """The outcomes of an assistant's replies, by day, from one day to another, in the form of `SeenReply.day`."""
        return await self._coverage(place, schema.replies.c.day.between(since, until))

    async def covered(self, place: figures.Place, span: figures.Span) -> Coverage:
        """The outcomes of the replies that an assistant wrote in the span, to the second."""
        is_within = sa.and_(
            schema.replies.c.ts >= figures.to_ts(span.start), schema.replies.c.ts < figures.to_ts(span.end)
        )
        return together((await self._coverage(place, is_within)).values())

    async def _coverage(self, place: figures.Place, which: sa.ColumnElement[bool]) -> Mapping[str, Coverage]:
        query = sa.select(schema.replies.c.day, schema.replies.c.outcome, sa.func.count().label("number")).filter_by(
            **_of(place)
        )
        found: dict[str, dict[ReplyOutcome | None, int]] = {}
        for row in await self._database.all(
            query.where(which).group_by(schema.replies.c.day, schema.replies.c.outcome)
        ):
            found.setdefault(row.day, {})[row.outcome and ReplyOutcome(row.outcome)] = row.number
        return {day: Coverage(outcomes) for day, outcomes in found.items()}

    async def last_day(self, place: figures.Place) -> str | None:
        query = sa.select(schema.replies.c.day).filter_by(**_of(place)).order_by(schema.replies.c.day.desc()).limit(1)
        day: str | None = await self._database.value(query)
        return day

    async def used(self, reply: SeenReply, question_ts: str | None) -> Used:
        """How much of the limits of a reply's day is used up; `of_question` is 0 if the question is not known."""
        start = datetime.fromisoformat(reply.day).replace(tzinfo=UTC)
        is_on_day = sa.and_(
            schema.cases.c.message_ts >= figures.to_ts(start),
            schema.cases.c.message_ts < figures.to_ts(start + timedelta(days=1)),
        )
        is_of_question = schema.cases.c.question_ts == (question_ts or "")
        query = (
            sa.select(sa.func.count().label("replies"), sa.func.count().filter(is_of_question).label("of_question"))
            .select_from(schema.cases)
            .filter_by(team_id=reply.team_id, channel_id=reply.channel_id, author_id=reply.author_id)
            .where(is_on_day, is_watched(schema.cases), schema.cases.c.message_ts != reply.ts)
        )
        (used,) = await self._database.rows(Used, query)
        return used

    async def expected(self, place: figures.Place, since: datetime, until: datetime) -> int:
        is_meant = sa.or_(
            schema.replies.c.outcome.is_(None), schema.replies.c.outcome.in_((ReplyOutcome.TAKEN, ReplyOutcome.MISSED))
        )
        within = sa.and_(schema.replies.c.rests_at >= since, schema.replies.c.rests_at < until)
        query = sa.select(sa.func.count(schema.replies.c.ts)).filter_by(**_of(place)).where(is_meant, within)
        return int(await self._database.value(query))

    async def drop_older(self, before: datetime) -> int:
        return await self._database.execute(
            sa.delete(schema.replies).where(schema.replies.c.day < f"{before:%Y-%m-%d}")
        )


def miss(case: LoggedCase) -> Update:
    its_reply = {"team_id": case.team_id, "channel_id": case.channel_id, "ts": case.message_ts}
    return sa.update(schema.replies).filter_by(**its_reply).values(outcome=ReplyOutcome.MISSED)


def _in_thread_of(team_id: str, channel_id: str, parent_ts: str) -> sa.ColumnElement[bool]:
    is_there = sa.and_(schema.replies.c.team_id == team_id, schema.replies.c.channel_id == channel_id)
    return sa.and_(is_there, sa.or_(schema.replies.c.parent_ts == parent_ts, schema.replies.c.ts == parent_ts))


def _key_of(reply: SeenReply) -> dict[str, str]:
    return {"team_id": reply.team_id, "channel_id": reply.channel_id, "ts": reply.ts}


_LEASE = timedelta(minutes=5)


class AlertKind(StrEnum):
    """What an alert reports.

    `WORSE`: the assistant is worse than before. `BELOW`: it is below its floor. `UNREAD`: the channel cannot be read.
    `SILENT`: the watch has no scores. `GONE`: the assistant no longer writes.
    """

    WORSE = "worse"
    BELOW = "below"
    UNREAD = "unread"
    SILENT = "silent"
    GONE = "gone"


class Alerts(db.StoreQueries):
    async def last(self, watch: Watch, kind: AlertKind) -> datetime | None:
        query = sa.select(sa.func.max(schema.alerts.c.posted_at)).filter_by(**_of(watch), kind=kind)
        at: datetime | None = await self._database.value(query)
        return at

    async def claim(self, watch: Watch, kind: AlertKind, now: datetime) -> datetime | None:
        """If today's alert of this watch is ours to post: since when it may be there, or `now` if it is the first try.

        None if it is not ours. A try from before midnight counts, too.
        """
        yesterday = _of(watch) | {"day": _day(now - timedelta(days=1)), "posted_at": None}
        left = await self._database.one(
            sa.select(schema.alerts.c.kind, schema.alerts.c.claimed_at).filter_by(**yesterday)
        )
        if left and left.claimed_at > now - _LEASE:
            return None
        values = {"kind": kind, "claimed_at": now}
        is_left = sa.and_(schema.alerts.c.posted_at.is_(None), schema.alerts.c.claimed_at <= now - _LEASE)
        is_first = await claim(self._database, schema.alerts, {**_of(watch), "day": _day(now)}, values, is_left)
        if is_first is None:
            return None
        if left and left.kind == kind:
            since: datetime = left.claimed_at
            return since
        return now if is_first else now.replace(hour=0, minute=0, second=0, microsecond=0)

    async def note_posted(self, watch: Watch, claimed_at: datetime, now: datetime) -> None:
        posted = sa.update(schema.alerts).filter_by(**_of(watch), day=_day(claimed_at)).values(posted_at=now)
        await self._database.execute(posted)


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"
