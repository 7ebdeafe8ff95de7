"""Which cases are meant by what a person asks to forget, and what of it are a person's own words."""

import asyncio
from collections.abc import Mapping, Sequence
from operator import add
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import CaseStatus, LoggedCase, Part
from bot.domain.clock import utc_now
from bot.slack.messages import Permalink
from bot.store.audit import Act, Action, note
from bot.store.cases import AT_REST
from bot.store.database import Database, StoreQueries, in_transaction, lock_words
from bot.store.edits import drop_texts
from bot.store.forgetting import BATCH, PAUSE_S
from bot.store.jobs import amending, put_jobs
from bot.store.personal import theirs
from bot.store.schema import (
    cases,
    forgotten,
    labels,
    releases,
    seen_messages,
    thread_signs,
    thumbs,
    topics,
    turns,
)
from bot.store.seen_messages import NO_AUTHOR
from bot.store.writer import after_commit


async def cases_at(database: Database, team_id: str, link: Permalink) -> Sequence[LoggedCase]:
    """The cases of a message, oldest first; the link is to that message, to a verdict on it, or to
    two typed texts.
    """
    ts = link.message_ts
    place = {"team_id": team_id, "channel_id": link.channel_id}
    here = sa.select(cases.c.id).filter_by(**place)
    # A union, so that each part uses its index.
    found = sa.union(
        here.filter_by(message_ts=ts),
        sa.select(turns.c.case_id).filter_by(**place, ts=ts, part=Part.RESPONSE),
        here.filter_by(thread_ts=link.parent_ts or ts, reply_ts=ts),
        here.filter_by(thread_ts=ts, message_ts=None),
    )
    query = sa.select(cases).where(cases.c.id.in_(found)).order_by(cases.c.id)
    return await database.rows(LoggedCase, query)


_AFTER_ALL_CASES = -10_000_000
"""The priority of amending verdicts: there may be many, and people who wait for a score come first."""


class Words(NamedTuple):
    """How many cases a person wrote in or asked for, and how many reasons for labels, thumbs and
    notes on releases they gave.
    """

    cases: int = 0
    others: int = 0


class PersonalData(StoreQueries):
    """Removes a person's words.

    A case is marked, and its verdict in Slack follows, as for a deleted message (`Edits`). A case
    that is being scored is not disturbed, and loses its texts once it is delivered.
    """

    async def forget(self, team_id: str, user_id: str) -> Words:
        """Removes all of a person's words at their request, in small batches; returns how much
        there was.

        The time is kept first: what they wrote before is stored no more (`without_forgotten`).
        """
        await self._note_time(team_id, user_id)
        total = Words()
        while any(gone := await self._forget_some(team_id, user_id)):
            total = Words(*map(add, total, gone))
            await asyncio.sleep(PAUSE_S)
        return total

    @in_transaction
    async def _note_time(self, connection: AsyncConnection, team_id: str, user_id: str) -> None:
        if not self._database.is_sqlite:
            # Waits for cases that are being stored, which are then found and lose their words.
            await connection.execute(sa.text(f"LOCK TABLE {forgotten.name} IN EXCLUSIVE MODE"))
        person = {"team_id": team_id, "user_id": user_id}
        await connection.execute(sa.delete(forgotten).filter_by(**person))
        await _forget_seen(connection, team_id, user_id)
        await connection.execute(sa.insert(forgotten).values(**person, at=utc_now()))

    @in_transaction
    async def _forget_some(self, connection: AsyncConnection, team_id: str, user_id: str) -> Words:
        """Removes some of a person's words; what it returns is empty once there are none."""
        await lock_words(connection)
        marked = await self._forget_cases(connection, team_id, user_id)
        gone = Words(marked, await _forget_others(connection, team_id, user_id))
        if any(gone):
            after_commit(connection, self._database.note_deletion)
            act = Act(team_id, user_id, Action.FORGOT_PERSON, user_id=user_id, cases=marked)
            await note(connection, [act])
        return gone

    async def _forget_cases(self, connection: AsyncConnection, team_id: str, user_id: str) -> int:
        """Marks some cases of a person, whose verdicts follow; those at rest lose their texts."""
        status_of = await _mark_cases(connection, team_id, user_id)
        is_marked = cases.c.id.in_(status_of)
        is_asked = sa.and_(is_marked, cases.c.requester_id == user_id)
        await connection.execute(sa.update(cases).where(is_asked).values(requester_name=user_id))
        is_at_rest = cases.c.status.in_(AT_REST)
        await drop_texts(self._database, connection, sa.and_(is_marked, is_at_rest))
        delivered = [number for number in status_of if status_of[number] == CaseStatus.DELIVERED]
        follow = amending(team_id, delivered, _AFTER_ALL_CASES, is_once=True)
        await put_jobs(self._database, connection, follow)
        return len(status_of)


async def _mark_cases(connection: AsyncConnection, team_id: str, user_id: str) -> Mapping[int, str]:
    """The numbers of the next cases that a person's words are in, each with its status."""
    is_theirs = cases.c.id.in_(theirs(team_id, user_id))
    some = sa.select(cases.c.id).where(is_theirs, cases.c.forgotten_at.is_(None))
    next_ones = cases.c.id.in_(some.order_by(cases.c.id).limit(BATCH))
    marking = sa.update(cases).where(next_ones).values(forgotten_at=utc_now(), is_stale=True)
    marked = await connection.execute(marking.returning(cases.c.id, cases.c.status))
    return {row.id: row.status for row in marked}


async def _forget_others(connection: AsyncConnection, team_id: str, user_id: str) -> int:
    """Removes a person's reasons, notes and thumbs; returns how many there were."""
    person = {"team_id": team_id, "user_id": user_id}
    reasons = sa.update(labels).filter_by(**person).where(labels.c.reason.is_not(None))
    notes = sa.update(releases).filter_by(team_id=team_id, set_by=user_id)
    others = 0
    for removal in (
        reasons.values(reason=None),
        notes.where(releases.c.note != "").values(note=""),
        sa.delete(thumbs).filter_by(**person),
    ):
        others += (await connection.execute(removal)).rowcount
    return others


async def _forget_seen(connection: AsyncConnection, team_id: str, user_id: str) -> None:
    """Drops who wrote the messages of a person, and what was read and asked in their threads.

    That a message was there stays: without it, other people's questions would have other outcomes.
    """
    written = {"team_id": team_id, "author_id": user_id}
    messages = sa.select(seen_messages.c.channel_id, seen_messages.c.ts).filter_by(**written)
    for table, ts in ((thread_signs, thread_signs.c.thread_ts), (topics, topics.c.question_ts)):
        is_theirs = sa.tuple_(table.c.channel_id, ts).in_(messages)
        await connection.execute(sa.delete(table).filter_by(team_id=team_id).where(is_theirs))
    await connection.execute(sa.update(seen_messages).filter_by(**written).values(NO_AUTHOR))
