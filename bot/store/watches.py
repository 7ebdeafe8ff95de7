"""Channels' watches, the replies that they have seen, and the alerts that were sent."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from secrets import token_hex
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, false, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql import Update

from bot.domain.case import LoggedCase
from bot.domain.clock import utc_now
from bot.domain.watch import Coverage, ReplyOutcome, SeenReply, Shows, Unread, Used, Watch, draws, together
from bot.store.audit import Act, Action, note
from bot.store.database import Part, claim, columns_of, insert_new, upsert
from bot.store.figures import Place, Span, to_ts
from bot.store.schema import IS_WAITED_FOR, alerts, cases, keys, replies, watches
from bot.store.visibility import is_watched

_TESTS_EVERY = timedelta(minutes=1)
_UNREAD_FOR = timedelta(hours=1)


class Watches(Part):
    async def of(self, team_id: str, channel_id: str | None = None) -> Sequence[Watch]:
        query = select(*columns_of(watches, Watch)).filter_by(team_id=team_id)
        if channel_id is not None:
            query = query.filter_by(channel_id=channel_id)
        return await self._database.rows(_to_watch, query.order_by(watches.c.channel_id, watches.c.author_id))

    async def find(self, team_id: str, channel_id: str, author_id: str) -> Watch | None:
        return next((each for each in await self.of(team_id, channel_id) if each.author_id == author_id), None)

    async def save(self, watch: Watch, by: str) -> None:
        now = utc_now()
        values = asdict(watch) | {"look_at": now, "read_until": now, "updated_at": now}
        statement = upsert(self._database, watches, values, keep=("since", "look_at", "read_until"))

        async def save(connection: AsyncConnection) -> None:
            await connection.execute(statement)
            await note(connection, [_act(watch, by, Action.WATCH_SET)])

        await self._database.write(save)

    async def begin_look(self, team_id: str, channel_id: str, now: datetime, every: timedelta) -> datetime | None:
        """Up to when a channel was read, if this process is to read it now; otherwise None.

        The next look is due after `every`.
        """
        place = {"team_id": team_id, "channel_id": channel_id}
        take = update(watches).filter_by(**place).where(watches.c.look_at <= now).values(look_at=now + every)
        read_until = select(func.min(watches.c.read_until)).filter_by(**place)

        async def begin(connection: AsyncConnection) -> datetime | None:
            taken = await connection.execute(take)
            return (await connection.execute(read_until)).scalar() if taken.rowcount else None

        return await self._database.write(begin)

    async def note_read(self, team_id: str, channel_id: str, until: datetime) -> None:
        """Records that everything written in a channel until then has been found."""
        here = update(watches).filter_by(team_id=team_id, channel_id=channel_id)
        await self._database.execute(here.values(read_until=until, not_read=None))

    async def note_not_read(self, team_id: str, channel_id: str, reason: str, look_at: datetime) -> None:
        """Records that a look failed, with Slack's error; the next one goes on from where the last good one ended."""
        here = update(watches).filter_by(team_id=team_id, channel_id=channel_id)
        await self._database.execute(here.values(not_read=reason, look_at=look_at))

    async def unread(self, team_id: str, now: datetime) -> Mapping[str, Unread]:
        """The watched channels, by id, that could not be read for an hour."""
        is_unread = and_(watches.c.not_read.is_not(None), watches.c.read_until <= now - _UNREAD_FOR)
        query = select(watches.c.channel_id, watches.c.read_until, watches.c.not_read).filter_by(team_id=team_id)
        rows = await self._database.all(query.where(is_unread))
        return {row.channel_id: Unread(row.read_until, row.not_read) for row in rows}

    async def begin_test(self, watch: Watch, now: datetime) -> bool:
        """Whether a test alert is ours to send: at most one a minute is sent, whatever process it is asked from."""
        is_over = or_(watches.c.tested_at.is_(None), watches.c.tested_at <= now - _TESTS_EVERY)
        taken = update(watches).filter_by(**_of(watch)).where(is_over).values(tested_at=now)
        return await self._database.execute(taken) == 1

    async def note_judge(self, watch: Watch, version: str | None) -> bool:
        """Whether another judge now scores for a watch: True for the first process that asks, and then not again."""
        its = select(watches.c.judge_version).filter_by(**_of(watch))

        async def note(connection: AsyncConnection) -> bool:
            earlier = (await connection.execute(its)).scalar()
            if earlier == version:
                return False
            is_still = watches.c.judge_version.is_not_distinct_from(earlier)
            noted = update(watches).filter_by(**_of(watch)).where(is_still).values(judge_version=version)
            return (await connection.execute(noted)).rowcount == 1 and earlier is not None

        return await self._database.write(note)

    async def end(self, watch: Watch, by: str) -> bool:
        """Whether there was a watch to end. What it has scored stays; replies that wait to be scored are dropped."""

        async def end(connection: AsyncConnection) -> bool:
            await connection.execute(delete(replies).filter_by(**_of(watch)).where(IS_WAITED_FOR))
            if not (await connection.execute(delete(watches).filter_by(**_of(watch)))).rowcount:
                return False
            await note(connection, [_act(watch, by, Action.WATCH_ENDED)])
            return True

        return await self._database.write(end)


def _of(of: Watch | Place) -> dict[str, str | None]:
    return {"team_id": of.team_id, "channel_id": of.channel_id, "author_id": of.author_id}


def _act(watch: Watch, by: str, what: Action) -> Act:
    return Act(watch.team_id, by, what, channel_id=watch.channel_id, user_id=watch.author_id)


def _to_watch(shows: str, **columns: Any) -> Watch:
    return Watch(shows=Shows(shows), **columns)


_DRAW = "draw"
_TURN = 5
_FOR_EVER = "9999-12-31"
_GOES_ON = ReplyOutcome.TAKEN, ReplyOutcome.NO_ANSWER, ReplyOutcome.DELETED


class Replies(Part):
    """Records replies when they are seen, and what happened to those that were drawn.

    A reply is recorded once, however often and to however many processes Slack reports it.
    """

    _key: bytes | None = None

    async def draws(self, watch: Watch, ts: str) -> bool:
        """Whether the reply with this timestamp is in the watch's share, by the key of this installation."""
        if self._key is None:
            await self._database.execute(insert_new(self._database, keys, {"name": _DRAW, "value": token_hex(32)}))
            self._key = bytes.fromhex(await self._database.value(select(keys.c.value).filter_by(name=_DRAW)))
        return draws(watch, ts, self._key)

    async def part_of(self, message: SeenReply) -> SeenReply | None:
        """The reply that a message of an assistant is part of, as far as is known; itself, if it is its first."""
        here = _in_thread_of(message.team_id, message.channel_id, message.parent_ts or message.ts)
        goes_on = or_(replies.c.ended_ts.is_(None), replies.c.ended_ts > message.ts)
        is_its = and_(replies.c.author_id == message.author_id, replies.c.outcome.is_distinct_from(ReplyOutcome.PART))
        is_earlier = and_(replies.c.ts < message.ts, goes_on) if message.parent_ts else false()
        query = select(*columns_of(replies, SeenReply)).where(here, is_its, or_(replies.c.ts == message.ts, is_earlier))
        return await self._database.first(SeenReply, query.order_by(replies.c.ts.desc()))

    async def go_on(self, reply: SeenReply, ts: str, rests_at: datetime | None) -> bool:
        """Records that a reply has a further message, and waits for it to rest; returns whether that is news.

        A reply that was scored, had no words, or whose words in advance were deleted, waits once more. Without
        `rests_at`, it is looked at as planned.
        """
        waits = or_(IS_WAITED_FOR, replies.c.outcome.in_(_GOES_ON))
        is_news = or_(replies.c.last_ts.is_(None), replies.c.last_ts < ts)
        changes = {"last_ts": ts, "outcome": None} | ({"rests_at": rests_at} if rests_at else {})
        going_on = update(replies).filter_by(**_key_of(reply)).where(waits, is_news).values(changes)
        return bool(await self._database.execute(going_on))

    async def end_before(self, team_id: str, channel_id: str, parent_ts: str, author_id: str | None, ts: str) -> None:
        """Records that a message in a thread ends the replies of all others there: what they add is another reply."""
        goes_on = or_(replies.c.ended_ts.is_(None), replies.c.ended_ts > ts)
        is_others = and_(replies.c.author_id != (author_id or ""), replies.c.ts < ts, goes_on)
        here = and_(_in_thread_of(team_id, channel_id, parent_ts), is_others)
        # Most threads have none, so this looks without the writers' lock.
        if await self._database.values(select(replies.c.ts).where(here).limit(1)):
            await self._database.execute(update(replies).where(here).values(ended_ts=ts))

    async def rename(self, reply: SeenReply, ts: str) -> SeenReply | None:
        """The reply with another first message, since its own is deleted; None if that message is known as a reply."""
        try:
            await self._database.execute(update(replies).filter_by(**_key_of(reply)).values(ts=ts))
        except IntegrityError:
            return None
        return replace(reply, ts=ts)

    async def note(self, reply: SeenReply, watch: Watch, rests_at: datetime) -> int:
        """Records a reply as it is seen now, if it is new; returns the number of new replies, 1 or 0."""
        is_drawn = await self.draws(watch, reply.ts)
        drawn = {"probability": watch.share, "outcome": None if is_drawn else ReplyOutcome.PASSED}
        values = asdict(reply) | drawn | {"rests_at": rests_at, "day": reply.day}
        return await self._database.execute(insert_new(self._database, replies, values))

    async def due(
        self, team_id: str, now: datetime, without: Collection[str] = ()
    ) -> Sequence[tuple[SeenReply, float]]:
        """Replies that were drawn and have come to rest, with the probability of the draw; at most five of each watch.

        Of each watch, those that have rested longest come first; `without` are channels to leave out.
        """
        order = replies.c.rests_at, replies.c.ts
        turn = func.row_number().over(partition_by=(replies.c.channel_id, replies.c.author_id), order_by=order)
        is_due = and_(IS_WAITED_FOR, replies.c.team_id == team_id, replies.c.rests_at <= now)
        columns = *columns_of(replies, SeenReply), replies.c.probability, turn.label("turn")
        found = select(*columns).where(is_due, replies.c.channel_id.not_in(without)).subquery()
        rows = await self._database.all(select(found).where(found.c.turn <= _TURN).order_by(found.c.turn))
        names = [each.name for each in fields(SeenReply)]
        return [(SeenReply(**{name: getattr(row, name) for name in names}), row.probability) for row in rows]

    async def wait_on(self, reply: SeenReply, rests_at: datetime, *, is_edited: bool = False) -> None:
        """Records that the reply's text has changed since it was last seen; it is looked at again at `rests_at`.

        A reply that no longer waits stays as it is; if `is_edited`, it waits once more as one that goes on.
        """
        waits = or_(IS_WAITED_FOR, replies.c.outcome.in_(_GOES_ON)) if is_edited else IS_WAITED_FOR
        changes = {"text_hash": reply.text_hash, "rests_at": rests_at, "outcome": None}
        await self._database.execute(update(replies).filter_by(**_key_of(reply)).where(waits).values(changes))

    async def settle(self, reply: SeenReply, outcome: ReplyOutcome) -> None:
        """Records the outcome of a reply; one that was recorded stays, and one that has gone on since waits again."""
        is_same = replies.c.last_ts.is_not_distinct_from(reply.last_ts)
        waiting = update(replies).filter_by(**_key_of(reply)).where(IS_WAITED_FOR, is_same)
        await self._database.execute(waiting.values(outcome=outcome, text_hash=None))

    async def coverage(self, place: Place, since: str, until: str = _FOR_EVER) -> Mapping[str, Coverage]:
        """The outcomes of an assistant's replies, by day, from one day to another, in the form of `SeenReply.day`."""
        return await self._coverage(place, replies.c.day.between(since, until))

    async def covered(self, place: Place, span: Span) -> Coverage:
        """The outcomes of the replies that an assistant wrote in the span, to the second."""
        is_within = and_(replies.c.ts >= to_ts(span.start), replies.c.ts < to_ts(span.end))
        return together((await self._coverage(place, is_within)).values())

    async def _coverage(self, place: Place, which: ColumnElement[bool]) -> Mapping[str, Coverage]:
        query = select(replies.c.day, replies.c.outcome, func.count().label("number")).filter_by(**_of(place))
        found: dict[str, dict[ReplyOutcome | None, int]] = {}
        for row in await self._database.all(query.where(which).group_by(replies.c.day, replies.c.outcome)):
            found.setdefault(row.day, {})[row.outcome and ReplyOutcome(row.outcome)] = row.number
        return {day: Coverage(outcomes) for day, outcomes in found.items()}

    async def last_day(self, place: Place) -> str | None:
        query = select(replies.c.day).filter_by(**_of(place)).order_by(replies.c.day.desc()).limit(1)
        day: str | None = await self._database.value(query)
        return day

    async def used(self, reply: SeenReply, question_ts: str | None) -> Used:
        """How much of the limits of a reply's day is used up; `of_question` is 0 if the question is not known."""
        start = datetime.fromisoformat(reply.day).replace(tzinfo=UTC)
        is_on_day = and_(cases.c.message_ts >= to_ts(start), cases.c.message_ts < to_ts(start + timedelta(days=1)))
        is_of_question = cases.c.question_ts == (question_ts or "")
        query = (
            select(func.count().label("replies"), func.count().filter(is_of_question).label("of_question"))
            .select_from(cases)
            .filter_by(team_id=reply.team_id, channel_id=reply.channel_id, author_id=reply.author_id)
            .where(is_on_day, is_watched(cases), cases.c.message_ts != reply.ts)
        )
        (used,) = await self._database.rows(Used, query)
        return used

    async def expected(self, place: Place, since: datetime, until: datetime) -> int:
        is_meant = or_(replies.c.outcome.is_(None), replies.c.outcome.in_((ReplyOutcome.TAKEN, ReplyOutcome.MISSED)))
        within = and_(replies.c.rests_at >= since, replies.c.rests_at < until)
        query = select(func.count(replies.c.ts)).filter_by(**_of(place)).where(is_meant, within)
        return int(await self._database.value(query))

    async def drop_older(self, before: datetime) -> int:
        return await self._database.execute(delete(replies).where(replies.c.day < f"{before:%Y-%m-%d}"))


def miss(case: LoggedCase) -> Update:
    its_reply = {"team_id": case.team_id, "channel_id": case.channel_id, "ts": case.message_ts}
    return update(replies).filter_by(**its_reply).values(outcome=ReplyOutcome.MISSED)


def _in_thread_of(team_id: str, channel_id: str, parent_ts: str) -> ColumnElement[bool]:
    is_there = and_(replies.c.team_id == team_id, replies.c.channel_id == channel_id)
    return and_(is_there, or_(replies.c.parent_ts == parent_ts, replies.c.ts == parent_ts))


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


class Alerts(Part):
    async def last(self, watch: Watch, kind: AlertKind) -> datetime | None:
        query = select(func.max(alerts.c.posted_at)).filter_by(**_of(watch), kind=kind)
        at: datetime | None = await self._database.value(query)
        return at

    async def claim(self, watch: Watch, kind: AlertKind, now: datetime) -> datetime | None:
        """If today's alert of this watch is ours to post: since when it may be there, or `now` if it is the first try.

        None if it is not ours. A try from before midnight counts, too.
        """
        yesterday = _of(watch) | {"day": _day(now - timedelta(days=1)), "posted_at": None}
        left = await self._database.one(select(alerts.c.kind, alerts.c.claimed_at).filter_by(**yesterday))
        if left and left.claimed_at > now - _LEASE:
            return None
        values = {"kind": kind, "claimed_at": now}
        is_left = and_(alerts.c.posted_at.is_(None), alerts.c.claimed_at <= now - _LEASE)
        is_first = await claim(self._database, alerts, {**_of(watch), "day": _day(now)}, values, is_left)
        if is_first is None:
            return None
        if left and left.kind == kind:
            since: datetime = left.claimed_at
            return since
        return now if is_first else now.replace(hour=0, minute=0, second=0, microsecond=0)

    async def note_posted(self, watch: Watch, claimed_at: datetime, now: datetime) -> None:
        posted = update(alerts).filter_by(**_of(watch), day=_day(claimed_at)).values(posted_at=now)
        await self._database.execute(posted)


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"
