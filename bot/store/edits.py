"""Records that messages were edited or deleted after they were scored, and removes the texts of
cases, also quoted.
"""

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import CaseStatus, LoggedCase, Part, text_hash
from bot.domain.clock import utc_now
from bot.store.cases import AT_REST, is_one_message
from bot.store.database import Database, StoreQueries, in_transaction, insert_into, lock_words
from bot.store.jobs import amending, is_of_team, put_jobs, submit_jobs
from bot.store.schema import (
    IS_STALE,
    cases,
    causes,
    is_of_case,
    quotes,
    ratings,
    rows_of_cases,
    topics,
    turns,
)
from bot.store.tables import Condition
from bot.store.writer import after_commit

_HAS_WORDS = sa.or_(cases.c.justification != "", cases.c.question.is_not(None))
_NO_TEXTS = {"question": None, "response": None, "justification": ""}


async def drop_texts(database: Database, connection: AsyncConnection, which: Condition) -> int:
    """Removes the texts from these cases, their ratings, causes and topics; returns how many cases it were.

    Hashes, scores and the timestamps of the messages are kept. The transaction must hold
    `lock_words`.
    """
    # The cases first: whatever remembers something of a case holds its row, and is deleted after
    # that.
    dropping = (
        sa.update(cases).where(which).values(_NO_TEXTS).returning(cases.c.team_id, cases.c.id)
    )
    dropped = [(row.team_id, row.id) for row in await connection.execute(dropping)]
    if dropped:
        await connection.execute(sa.update(turns).where(_is_of(turns, dropped)).values(text=None))
        words = sa.update(ratings).where(_is_of(ratings, dropped))
        await connection.execute(words.values(justification="", raw=""))
        for named in (causes, topics):
            await connection.execute(sa.delete(named).where(_is_of(named, dropped)))
        after_commit(connection, database.note_deletion)
    return len(dropped)


def _is_of(table: sa.Table, dropped: Sequence[tuple[str, int]]) -> Condition:
    return sa.tuple_(table.c.team_id, table.c.case_id).in_(dropped)


_AT_ONCE = 100


class Edits(StoreQueries):
    """Marks the cases of messages that have changed since they were scored.

    A marked case is stale until its verdict in Slack says so, too. An attempt that is settling the
    case is not disturbed, because only this class and forgetting write these columns.
    """

    async def note_edited(self, team_id: str, channel_id: str, ts: str, text: str) -> Sequence[int]:
        """Marks the cases that were read from this message if it differs from `text`."""
        now = text_hash(text)
        is_response = sa.and_(cases.c.message_ts == ts, is_one_message(Part.RESPONSE))
        is_question = sa.and_(cases.c.question_ts == ts, is_one_message(Part.QUESTION))
        read = [
            _read_from(sa.and_(is_response, cases.c.response_hash != now)),
            _read_from(sa.and_(is_question, cases.c.question_hash != now)),
            _said_at(team_id, channel_id, ts).where(turns.c.text_hash != now),
        ]
        return await self._mark(cases.c.edited_at, team_id, channel_id, read)

    async def note_deleted(self, team_id: str, channel_id: str, ts: str) -> Sequence[int]:
        """Marks the cases that were read from this message; those at rest lose their texts."""
        read = [
            _read_from(cases.c.message_ts == ts),
            _read_from(cases.c.question_ts == ts),
            _said_at(team_id, channel_id, ts),
        ]
        return await self._mark(cases.c.deleted_at, team_id, channel_id, read)

    async def note_added(self, case: LoggedCase) -> None:
        """Marks a case whose reply has gone on since it was scored, like an edited one, and others
        of its words.
        """
        is_same = sa.and_(
            cases.c.message_ts == case.message_ts,
            cases.c.response_hash == case.response_hash,
            cases.c.probability.is_(None),
        )
        read = [_read_from(cases.c.id == case.id), _read_from(is_same)]
        await self._mark(cases.c.edited_at, case.team_id, case.channel_id, read)

    async def _mark(
        self,
        column: sa.Column[Any],
        team_id: str,
        channel_id: str,
        read: Sequence[sa.Select[tuple[int]]],
    ) -> Sequence[int]:
        """Marks in this column the cases that these queries find in the channel."""
        # Almost no message was ever scored, so this looks without the writers' lock. It is a union,
        # because SQLite would go through the whole channel for an "or".
        is_new = sa.and_(
            cases.c.team_id == team_id, cases.c.channel_id == channel_id, column.is_(None)
        )
        found = await self._database.values(sa.union(*(query.where(is_new) for query in read)))
        if found:
            await self._write_marks(column, team_id, found)
        return found

    @in_transaction
    async def _write_marks(
        self,
        connection: AsyncConnection,
        column: sa.Column[Any],
        team_id: str,
        found: Sequence[int],
    ) -> None:
        await lock_words(connection)
        is_found = cases.c.id.in_(found)
        marks = {column: utc_now(), "is_stale": True}
        await connection.execute(sa.update(cases).where(is_found).values(marks))
        if column is cases.c.deleted_at:
            is_at_rest = cases.c.status.in_(AT_REST)
            await drop_texts(self._database, connection, sa.and_(is_found, is_at_rest))
        await put_jobs(self._database, connection, amending(team_id, found))

    async def note_quoted(
        self, team_id: str, case_ids: Collection[int], channel_id: str, ts: str
    ) -> Sequence[int]:
        """Records that a message quotes words of these cases; returns those that have none to be
        quoted (now).
        """
        has_words = sa.and_(cases.c.team_id == team_id, cases.c.id.in_(case_ids), _HAS_WORDS)
        rows = rows_of_cases(quotes, has_words, channel_id=channel_id, ts=ts)
        noting = insert_into(self._database, quotes).from_select(*rows)
        await self._database.execute(noting.on_conflict_do_nothing())
        kept = await self._database.values(sa.select(cases.c.id).where(has_words))
        return [case_id for case_id in case_ids if case_id not in kept]

    async def quoted(self, case_ids: Collection[int]) -> Sequence[tuple[str, str]]:
        """Channel and ts of each post, or file, that quotes words of one of these cases."""
        posts = sa.select(quotes.c.channel_id, quotes.c.ts).where(quotes.c.case_id.in_(case_ids))
        return [(row.channel_id, row.ts) for row in await self._database.all(posts.distinct())]

    async def with_words(self, case_ids: Collection[int]) -> list[int]:
        has_words = sa.and_(cases.c.id.in_(case_ids), _HAS_WORDS)
        return await self._database.values(sa.select(cases.c.id).where(has_words))

    async def case(self, case_id: int) -> LoggedCase | None:
        """The case, if its verdict in Slack is out of date; otherwise None."""
        return await self._database.first(
            LoggedCase, sa.select(cases).where(IS_STALE, cases.c.id == case_id)
        )

    async def resubmit(self, team_id: str) -> None:
        """Writes the missing jobs for a team's stale verdicts: a safety net, and how a queue
        starts.
        """
        is_due = sa.and_(IS_STALE, is_of_team(team_id), cases.c.status == CaseStatus.DELIVERED)
        query = sa.select(cases.c.id).where(is_due).order_by(cases.c.id).limit(_AT_ONCE)
        stale = await self._database.values(query)
        await submit_jobs(self._database, amending(team_id, stale, is_once=True))

    @in_transaction
    async def drop_texts(self, connection: AsyncConnection, case: LoggedCase) -> None:
        await lock_words(connection)
        await drop_texts(self._database, connection, cases.c.id == case.id)

    async def note_said(self, case: LoggedCase) -> None:
        """Records that the verdict in Slack says what `case` says; if the case has been marked
        since, it is stale.

        Another process may have shown those marks already, before this one has replaced them by
        fewer.
        """
        marks = (cases.c.edited_at, cases.c.deleted_at, cases.c.forgotten_at)
        has_more = sa.or_(*(mark.is_distinct_from(getattr(case, mark.name)) for mark in marks))
        await self._database.execute(
            sa.update(cases).filter_by(id=case.id).values(is_stale=has_more)
        )


def _read_from(is_read: Condition) -> sa.Select[tuple[int]]:
    return sa.select(cases.c.id).where(is_read)


def _said_at(team_id: str, channel_id: str, ts: str) -> sa.Select[tuple[int]]:
    """The cases with a turn that is this message, which stands in them by itself."""
    is_there = sa.and_(turns.c.team_id == team_id, turns.c.channel_id == channel_id)
    is_it = sa.and_(is_there, turns.c.ts == ts, turns.c.part != Part.SHARED)
    return sa.select(cases.c.id).join(turns, is_of_case(turns)).where(is_it)
