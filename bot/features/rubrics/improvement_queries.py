"""Improvements of a channel's judge (one for each channel), the labels they learn from, and what they remember."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.clock import utc_now
from bot.domain.rubric import ChannelJudge
from bot.features.rubrics import replay_queries
from bot.features.rubrics.replay_queries import Labelled, read_labelled
from bot.store import database as db
from bot.store.examples import LEARNT, PROPOSALS, Progress
from bot.store.jobs import Job, JobQueries
from bot.store.rubrics import to_columns
from bot.store.schema import align_records, cases, improvements
from judge.scoring.rubric import Scale

MOST_CASES = 130
"""At most this many cases are scored, so that 400 requests cover a calibration, examples and a proposed text."""
_OF_CASE = "score/"


IMPROVE = "improve"
"""The kind of the job that works on an improvement, and has its number."""


@dataclass(frozen=True)
class Improvement(replay_queries.JudgeRequest):
    """A person's search for a judge that agrees better than `judge`; `prompt` is the better rubric's, if found."""

    status: str
    started_at: datetime
    message_channel: str | None = None
    message_ts: str | None = None
    prompt: str | None = None


class Records:
    """What the improvements of one channel remember; a `judge.evaluation.align.Memory`."""

    def __init__(self, database: db.Database, team_id: str, channel_id: str) -> None:
        self._database = database
        self._place = {"team_id": team_id, "channel_id": channel_id}

    async def get(self, key: str) -> Mapping[str, Any] | None:
        row = await self._database.one(sa.select(align_records.c.value).filter_by(**self._place, key=key))
        return row.value if row else None

    async def put(self, key: str, value: Mapping[str, Any]) -> None:
        """Stores a value, unless its case was forgotten, or lost its texts, in the meantime."""
        case_id = int(key.rsplit("/", 2)[1]) if key.startswith(_OF_CASE) else None
        row = self._place | {"key": key, "case_id": case_id, "value": value}
        # Locked until the end: a transaction that drops its texts waits, and then deletes this row as well.
        has_texts = sa.select(cases.c.id).where(cases.c.id == case_id, cases.c.response.is_not(None))

        async def put(connection: AsyncConnection) -> None:
            if case_id is None or (await connection.execute(has_texts.with_for_update(read=True))).first():
                await connection.execute(db.upsert(self._database, align_records, row))

        with suppress(IntegrityError):  # SQLite: a purge in another process has deleted the case since it was read
            await self._database.write(put)


class Improvements(JobQueries):
    async def begin(self, team_id: str, channel_id: str, user_id: str, judge: ChannelJudge) -> Improvement | None:
        """Replaces the channel's last improvement with a new one and its job, and returns the old one.

        If the old one is still running it stays, and nothing is written.
        """
        place = {"team_id": team_id, "channel_id": channel_id}
        wish = {"user_id": user_id, "status": Progress.RUNNING, "started_at": utc_now()}
        new = sa.insert(improvements).values(place | to_columns(judge) | wish).returning(improvements.c.id)

        async def begin(connection: AsyncConnection) -> Improvement | None:
            await db.lock_for_transaction(connection, f"improvements of {team_id}/{channel_id}")
            row = (await connection.execute(_improvements.filter_by(**place))).one_or_none()
            last = Improvement(**row._mapping) if row else None
            if last is None or last.status != Progress.RUNNING:
                await connection.execute(sa.delete(improvements).filter_by(**place))
                await connection.execute(sa.delete(align_records).filter_by(**place, key=LEARNT))
                number = (await connection.execute(new)).scalar_one()
                await self._jobs.put(connection, [_job(team_id, number)])
            return last

        return await self._database.write(begin)

    async def find(self, number: int) -> Improvement | None:
        """The improvement with this number; None if it came to nothing, or another one has replaced it."""
        return await self._database.first(Improvement, _improvements.filter_by(id=number))

    async def of(self, team_id: str, channel_id: str) -> Improvement | None:
        place = {"team_id": team_id, "channel_id": channel_id}
        return await self._database.first(Improvement, _improvements.filter_by(**place))

    def records(self, team_id: str, channel_id: str) -> Records:
        return Records(self._database, team_id, channel_id)

    async def labelled(self, team_id: str, channel_id: str, scale: Scale) -> Sequence[Labelled]:
        """The channel's labelled cases on that scale, at most 130: those labelled blind first, then the newest."""
        return await self._database.read(partial(read_labelled, query=_labelled(team_id, channel_id, scale)))

    async def learn(
        self, improvement: Improvement, scale: Scale, examples: Collection[str]
    ) -> Sequence[Labelled] | None:
        """The same cases, for an improvement that ends once one of them, or of the rubric's `examples`, is forgotten.

        None if it has ended, or if its rubric has lost an example since.
        """
        place = {"team_id": improvement.team_id, "channel_id": improvement.channel_id}
        is_same = improvements.c.rubric_version.is_not_distinct_from(improvement.rubric_version)
        # It changes nothing, but holds the row, and SQLite's lock, before anything is read.
        hold = sa.update(improvements).where(_is(improvement.id, Progress.RUNNING), is_same)
        known = sa.select(align_records.c.value).filter_by(**place, key=LEARNT)

        async def learn(connection: AsyncConnection) -> Sequence[Labelled] | None:
            await db.lock_learning(connection)
            if not (await connection.execute(hold.values(status=Progress.RUNNING))).rowcount:
                return None
            found = await read_labelled(connection, _labelled(*improvement.place, scale))
            # What an earlier attempt has read may stand in a rubric that it proposed before it was killed.
            earlier = (await connection.execute(known)).scalar() or {"cases": []}
            numbers = {*earlier["cases"], *examples, *(each.case.id for each in found)}
            row = place | {"key": LEARNT, "value": {"cases": sorted(numbers)}}
            await connection.execute(db.upsert(self._database, align_records, row))
            return found

        return await self._database.write(learn)

    async def note_message(self, number: int, channel_id: str, ts: str) -> None:
        values = {"message_channel": channel_id, "message_ts": ts}
        await self._database.execute(sa.update(improvements).where(improvements.c.id == number).values(values))

    async def stop(self, number: int) -> bool:
        """Tells it to stop; False if it has ended, or is about to."""
        is_at_work = _is(number, Progress.RUNNING) & improvements.c.prompt.is_(None)
        stop = sa.update(improvements).where(is_at_work).values(status=Progress.STOPPED)
        return await self._database.execute(stop) > 0

    async def propose(self, number: int, prompt: str) -> bool:
        """Stores the rubric that it found; False if it has ended. From then on the rubric can be decided about."""
        proposal = sa.update(improvements).where(_is(number, Progress.RUNNING)).values(prompt=prompt)
        return await self._database.execute(proposal) > 0

    async def offer(self, number: int) -> None:
        told = sa.update(improvements).where(_is(number, Progress.RUNNING)).values(status=Progress.OFFERED)
        await self._end(number, told)

    async def drop(self, number: int) -> None:
        await self._end(number, sa.delete(improvements).where(improvements.c.id == number))

    def use(self, number: int) -> sa.UpdateBase:
        """The statement that marks it as used, for the transaction that uses its rubric."""
        return sa.update(improvements).where(_is_proposed(number)).values(status=Progress.USED, prompt=None)

    def go_back(self, number: int) -> sa.UpdateBase:
        """The statement that deletes it, for the transaction that takes its rubric back."""
        return sa.delete(improvements).where(_is(number, Progress.USED))

    async def leave(self, number: int) -> bool:
        """Deletes an improvement whose rubric is not wanted; False if that was decided before."""
        return await self._database.execute(sa.delete(improvements).where(_is_proposed(number))) > 0

    async def resubmit(self, team_id: str) -> None:
        is_open = improvements.c.status.in_(UNTOLD)
        numbers = await self._database.values(sa.select(improvements.c.id).filter_by(team_id=team_id).where(is_open))
        await self._jobs.submit([_job(team_id, number) for number in numbers])

    async def _end(self, number: int, ending: sa.UpdateBase) -> None:
        """Ends it, and deletes what models wrote for it, which may contain words of the replies."""
        place = sa.select(improvements.c.team_id, improvements.c.channel_id).where(improvements.c.id == number)

        async def end(connection: AsyncConnection) -> None:
            of = (await connection.execute(place)).one_or_none()
            if of is not None:
                await connection.execute(ending)
                await connection.execute(PROPOSALS.filter_by(**of._mapping))

        await self._database.write(end)


UNTOLD = (Progress.RUNNING, Progress.STOPPED, Progress.FORGOTTEN)
"""While it has one of these, its person has not been told how it ended."""

_improvements = sa.select(*db.columns_of(improvements, Improvement))


def _is(number: int, *status: Progress) -> sa.ColumnElement[bool]:
    return sa.and_(improvements.c.id == number, improvements.c.status.in_(status))


def _is_proposed(number: int) -> sa.ColumnElement[bool]:
    return sa.and_(_is(number, Progress.RUNNING, Progress.OFFERED), improvements.c.prompt.is_not(None))


def _labelled(team_id: str, channel_id: str, scale: Scale) -> sa.Select[Any]:
    is_meant = replay_queries.is_replayable(team_id, channel_id, scale)
    query = replay_queries.LABELLED.where(is_meant).order_by(replay_queries.BLIND_FIRST, cases.c.id.desc())
    return query.limit(MOST_CASES)


def _job(team_id: str, number: int) -> Job:
    return Job(IMPROVE, team_id, number, key=f"improve/{number}")
