"""The replies that watches have seen, and what has become of those that were drawn."""

import hmac
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from bot.domain.verdict import MADE_UP, OFFLINE
from bot.domain.watch import Coverage, ReplyOutcome, Watch
from bot.figures.quality import grouped
from bot.store import database as db
from bot.store.figures import Place, Span, to_ts
from bot.store.notices import day_of
from bot.store.schema import IS_WAITED_FOR, cases, keys, replies, watches
from bot.store.tallies import cause_of_case
from bot.store.visibility import is_low, is_watched


@dataclass(frozen=True)
class SeenReply:
    """A reply of a watched assistant, known by its first message.

    `text_hash` is the hash of its text, and None while it is still being written. `last_ts` is the
    newest message that the assistant has added to it, if any. `probability` is that of the draw.
    """

    team_id: str
    channel_id: str
    ts: str
    author_id: str
    parent_ts: str | None
    text_hash: str | None
    last_ts: str | None = None
    probability: float = 1.0

    @property
    def day(self) -> str:
        return day_of(datetime.fromtimestamp(float(self.ts), UTC))


class SeenCount(NamedTuple):
    """How many replies (`number`) of an assistant to one person have an outcome, and how many of
    them have a score; `rater` is OFFLINE or MADE_UP, and None for a model.
    """

    channel_id: str
    author_id: str
    outcome: str | None
    asker_id: str | None
    rater: str | None
    number: int
    scored: int


class LowCount(NamedTuple):
    """How many low replies of an assistant in a channel have one cause, as far as it is known."""

    channel_id: str
    author_id: str
    cause: str | None
    number: int


def draws(watch: Watch, ts: str, key: bytes) -> bool:
    """Whether the reply with this timestamp is in the watch's share.

    The draw follows from the message and the installation's key. A redelivery, a restart and a
    second process draw the same. The author cannot tell which replies are scored, and polish only
    those.
    """
    place = f"{watch.team_id}/{watch.channel_id}/{ts}"
    number = int.from_bytes(hmac.digest(key, place.encode(), "sha256")[:8], "big")
    return number < watch.share * 2**64


_COLUMNS = db.columns_of(replies, SeenReply)
_ASKER = cases.c.question_author_id.label("asker_id")
_RATER = sa.case((cases.c.model.in_((OFFLINE, MADE_UP)), cases.c.model)).label("rater")
_DRAW = "draw"
_TURN = 5
_GOES_ON = (
    ReplyOutcome.TAKEN,
    ReplyOutcome.NO_ANSWER,
    ReplyOutcome.DELETED,
    ReplyOutcome.BROKE_OFF,
)


class Replies(db.StoreQueries):
    """Records replies when they are seen, and what happened to those that were drawn.

    A reply is recorded once, however often and to however many processes Slack reports it.
    """

    _key: bytes | None = None

    async def draws(self, watch: Watch, ts: str) -> bool:
        """Whether the reply with this timestamp is in the watch's share, by the key of this
        installation.
        """
        if self._key is None:
            await self._database.execute(
                db.insert_new(self._database, keys, {"name": _DRAW, "value": token_hex(32)})
            )
            self._key = bytes.fromhex(
                await self._database.value(sa.select(keys.c.value).filter_by(name=_DRAW))
            )
        return draws(watch, ts, self._key)

    async def part_of(self, message: SeenReply) -> SeenReply | None:
        """The reply that a message of an assistant is part of, as far as is known; itself, if it is
        its first.
        """
        which = replies.c.ts == message.ts
        if message.parent_ts:
            goes_on = sa.or_(replies.c.ended_ts.is_(None), replies.c.ended_ts > message.ts)
            which = sa.or_(which, sa.and_(replies.c.ts < message.ts, goes_on))
        query = sa.select(*_COLUMNS).where(
            _in_thread_of(message.team_id, message.channel_id, message.parent_ts or message.ts),
            replies.c.author_id == message.author_id,
            replies.c.outcome.is_distinct_from(ReplyOutcome.PART),
            which,
        )
        return await self._database.first(SeenReply, query.order_by(replies.c.ts.desc()))

    async def go_on(self, reply: SeenReply, ts: str, rests_at: datetime | None) -> bool:
        """Records that a reply has a further message, and waits for it to rest; returns whether
        that is news.

        A reply that was scored, had no words, broke off, or whose words in advance were deleted,
        waits once more. Without `rests_at`, it is looked at as planned.
        """
        waits = sa.or_(IS_WAITED_FOR, replies.c.outcome.in_(_GOES_ON))
        is_news = sa.or_(replies.c.last_ts.is_(None), replies.c.last_ts < ts)
        changes = {"last_ts": ts, "outcome": None} | ({"rests_at": rests_at} if rests_at else {})
        going_on = (
            sa.update(replies).filter_by(**_its_key(reply)).where(waits, is_news).values(changes)
        )
        return bool(await self._database.execute(going_on))

    async def end_before(
        self, team_id: str, channel_id: str, parent_ts: str, author_id: str | None, ts: str
    ) -> None:
        """Records that a message in a thread ends the replies of all others there: what they add is
        another reply.
        """
        goes_on = sa.or_(replies.c.ended_ts.is_(None), replies.c.ended_ts > ts)
        is_others = sa.and_(replies.c.author_id != (author_id or ""), replies.c.ts < ts, goes_on)
        here = sa.and_(_in_thread_of(team_id, channel_id, parent_ts), is_others)
        # Most threads have none, so this looks without the writers' lock.
        if await self._database.values(sa.select(replies.c.ts).where(here).limit(1)):
            await self._database.execute(sa.update(replies).where(here).values(ended_ts=ts))

    async def rename(self, reply: SeenReply, ts: str) -> SeenReply | None:
        """The reply with another first message, since its own is deleted; None if that message is
        known as a reply.
        """
        try:
            await self._database.execute(
                sa.update(replies).filter_by(**_its_key(reply)).values(ts=ts)
            )
        except IntegrityError:
            return None
        return replace(reply, ts=ts)

    async def note(self, reply: SeenReply, watch: Watch, rests_at: datetime) -> int:
        """Records a reply as it is seen now, if it is new; returns the number of new replies, 1 or
        0.
        """
        outcome = None if await self.draws(watch, reply.ts) else ReplyOutcome.PASSED
        values = asdict(reply) | {
            "probability": watch.share,
            "outcome": outcome,
            "rests_at": rests_at,
        }
        values["day"] = reply.day
        return await self._database.execute(db.insert_new(self._database, replies, values))

    async def due(
        self, team_id: str, now: datetime, without: Collection[str] = ()
    ) -> Sequence[SeenReply]:
        """Replies that were drawn and have come to rest, at most five of each watch.

        Of each watch, those that have rested longest come first; `without` are channels to leave
        out.
        """
        turn = sa.func.row_number().over(
            partition_by=(replies.c.channel_id, replies.c.author_id),
            order_by=(replies.c.rests_at, replies.c.ts),
        )
        is_due = sa.and_(IS_WAITED_FOR, replies.c.team_id == team_id, replies.c.rests_at <= now)
        due = (
            sa.select(*_COLUMNS, turn.label("turn"))
            .where(is_due, replies.c.channel_id.not_in(without))
            .subquery()
        )
        first = sa.select(*(due.c[each.name] for each in _COLUMNS)).where(due.c.turn <= _TURN)
        return await self._database.rows(SeenReply, first.order_by(due.c.turn))

    async def wait_on(
        self, reply: SeenReply, rests_at: datetime, *, is_edited: bool = False
    ) -> None:
        """Records that the reply's text has changed since it was last seen; it is looked at again
        at `rests_at`.

        A reply that no longer waits stays as it is; if `is_edited`, it waits once more as one that
        goes on.
        """
        waits = (
            sa.or_(IS_WAITED_FOR, replies.c.outcome.in_(_GOES_ON)) if is_edited else IS_WAITED_FOR
        )
        changes = {"text_hash": reply.text_hash, "rests_at": rests_at, "outcome": None}
        await self._database.execute(
            sa.update(replies).filter_by(**_its_key(reply)).where(waits).values(changes)
        )

    async def settle(self, reply: SeenReply, outcome: ReplyOutcome) -> None:
        """Records the outcome of a reply; one that was recorded stays, and one that has gone on
        since waits again.
        """
        is_same = replies.c.last_ts.is_not_distinct_from(reply.last_ts)
        waiting = sa.update(replies).filter_by(**_its_key(reply)).where(IS_WAITED_FOR, is_same)
        await self._database.execute(waiting.values(outcome=outcome, text_hash=None))

    async def coverage(self, place: Place, since: str) -> Mapping[str, Coverage]:
        """The outcomes of an assistant's replies, by day in the form of `SeenReply.day`, from one
        day on.
        """
        query = sa.select(replies.c.day, replies.c.outcome, sa.func.count().label("number"))
        query = query.where(_is_at(place), replies.c.day >= since).group_by(
            replies.c.day, replies.c.outcome
        )
        by_day = grouped(
            (row.day, (row.outcome and ReplyOutcome(row.outcome), row.number))
            for row in await self._database.all(query)
        )
        return {day: Coverage(dict(numbers)) for day, numbers in by_day.items()}

    async def counts(self, place: Place, span: Span) -> Sequence[SeenCount]:
        """What has become of the replies that were written in the span, by channel, assistant and
        asker.
        """
        by = replies.c.channel_id, replies.c.author_id, replies.c.outcome, _ASKER, _RATER
        number = sa.func.count().label("number")
        query = (
            sa.select(*by, number, sa.func.count(cases.c.score).label("scored"))
            .select_from(replies.outerjoin(cases, _is_its_case()))
            .where(_is_at(place), _is_within(replies.c.ts, span))
            .group_by(*by)
        )
        return await self._database.rows(SeenCount, query)

    async def low_counts(
        self, team_id: str, channel_ids: Collection[str], since: datetime
    ) -> Sequence[LowCount]:
        """The low replies that watches drew, by channel, assistant and cause."""
        low = (
            sa.select(cases.c.channel_id, cases.c.author_id, cause_of_case().label("cause"))
            .where(
                cases.c.team_id == team_id,
                cases.c.channel_id.in_(channel_ids),
                cases.c.judged_at >= since,
                cases.c.score.is_not(None),
                is_watched(cases),
                is_low(),
            )
            .subquery()
        )
        query = sa.select(*low.c, sa.func.count().label("number")).group_by(*low.c)
        return await self._database.rows(LowCount, query)

    async def scored_that_day(self, watch: Watch, reply: SeenReply) -> int:
        """How many others of the assistant's replies of that day are scored; of a watch that follows
        from an order, in all its channels.
        """
        is_there = cases.c.channel_id == reply.channel_id
        if watch.is_derived:
            is_there = cases.c.channel_id.in_(_followed_in(watch))
        return await self._scored(reply, is_there)

    async def scored_of_question(self, reply: SeenReply, question_ts: str) -> int:
        """How many other replies of that day to the question are scored."""
        is_here = cases.c.channel_id == reply.channel_id
        return await self._scored(reply, is_here, cases.c.question_ts == question_ts)

    async def _scored(self, reply: SeenReply, *which: sa.ColumnElement[bool]) -> int:
        is_here = cases.c.channel_id == reply.channel_id
        is_itself = sa.and_(is_here, cases.c.message_ts == reply.ts)
        query = sa.select(sa.func.count(cases.c.id)).filter_by(
            team_id=reply.team_id, author_id=reply.author_id
        )
        others = query.where(*which, sa.not_(is_itself), _is_of_day(reply), is_watched(cases))
        return int(await self._database.value(others))

    async def expected(self, place: Place, since: datetime, until: datetime) -> int:
        is_meant = sa.or_(
            replies.c.outcome.is_(None),
            replies.c.outcome.in_((ReplyOutcome.TAKEN, ReplyOutcome.MISSED)),
        )
        within = sa.and_(replies.c.rests_at >= since, replies.c.rests_at < until)
        query = sa.select(sa.func.count(replies.c.ts)).where(_is_at(place), is_meant, within)
        return int(await self._database.value(query))


def _is_its_case() -> sa.ColumnElement[bool]:
    """That a case is the one of a reply, taken by a watch."""
    return sa.and_(
        cases.c.team_id == replies.c.team_id,
        cases.c.channel_id == replies.c.channel_id,
        cases.c.message_ts == replies.c.ts,
        is_watched(cases),
    )


def _is_within(ts: sa.ColumnElement[str], span: Span) -> sa.ColumnElement[bool]:
    return sa.and_(ts >= to_ts(span.start), ts < to_ts(span.end))


def _is_of_day(reply: SeenReply) -> sa.ColumnElement[bool]:
    """That a case is of a reply of the same day."""
    start = datetime.fromisoformat(reply.day).replace(tzinfo=UTC)
    return _is_within(cases.c.message_ts, Span(start, start + timedelta(days=1)))


def _followed_in(watch: Watch) -> sa.Select[tuple[str]]:
    """The channels of the order that a watch follows from."""
    return sa.select(watches.c.channel_id).filter_by(
        team_id=watch.team_id, author_id=watch.author_id, is_derived=True
    )


def _is_at(place: Place) -> sa.ColumnElement[bool]:
    return sa.and_(
        replies.c.team_id == place.team_id,
        replies.c.channel_id.in_((place.channel_id, *place.others)),
        sa.true() if place.author_id is None else replies.c.author_id == place.author_id,
    )


def _in_thread_of(team_id: str, channel_id: str, parent_ts: str) -> sa.ColumnElement[bool]:
    is_there = sa.and_(replies.c.team_id == team_id, replies.c.channel_id == channel_id)
    return sa.and_(is_there, sa.or_(replies.c.parent_ts == parent_ts, replies.c.ts == parent_ts))


def _its_key(reply: SeenReply) -> dict[str, str]:
    return {"team_id": reply.team_id, "channel_id": reply.channel_id, "ts": reply.ts}
