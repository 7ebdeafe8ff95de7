"""Records that messages were edited or deleted after they were scored, and removes the texts of
cases, also quoted.
"""

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import CaseStatus, LoggedCase, Part, join_texts, text_hash
from bot.domain.clock import utc_now
from bot.store.cases import AT_REST, is_one_message
from bot.store.database import Database, StoreQueries, in_transaction, lock_words
from bot.store.jobs import Job, JobKind, is_of_team, put_jobs, submit_jobs
from bot.store.schema import (
    IS_STALE,
    cases,
    causes,
    is_of_case,
    quotes,
    ratings,
    rows_of_cases,
    turns,
)
from bot.store.tables import Condition
from bot.store.writer import after_commit

_NO_TEXTS = {"question": None, "response": None, "justification": ""}


async def drop_texts(database: Database, connection: AsyncConnection, which: Condition) -> int:
    """Removes the texts from these cases, their ratings and causes; returns how many cases it were.

    Hashes, scores and the timestamps of the messages are kept. The transaction must hold
    `lock_words`.
    """
    # The cases first: whatever remembers something of a case holds its row, and is deleted after
    # that.
    dropping = (
        sa.update(cases).where(which).values(_NO_TEXTS).returning(cases.c.team_id, cases.c.id)
    )
    dropped = [(row.team_id, row.id) for row in await connection.execute(dropping)]
    await connection.execute(sa.update(turns).where(_is_of(turns, dropped)).values(text=None))
    await _drop_quotes(database, connection, dropped)
    return len(dropped)


async def _drop_quotes(
    database: Database, connection: AsyncConnection, dropped: Sequence[tuple[str, int]]
) -> None:
    """Removes what the judge wrote about these cases, and the causes that it named by that."""
    if not dropped:
        return
    words = sa.update(ratings).where(_is_of(ratings, dropped))
    await connection.execute(words.values(justification="", raw=""))
    await connection.execute(sa.delete(causes).where(_is_of(causes, dropped)))
    after_commit(connection, database.note_deletion)


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
        found = text_hash(text)
        scored = sa.and_(
            cases.c.message_ts == ts, cases.c.response_hash != found, is_one_message(Part.RESPONSE)
        )
        asked = sa.and_(
            cases.c.question_ts == ts, cases.c.question_hash != found, is_one_message(Part.QUESTION)
        )
        said = sa.and_(_is_said_at(team_id, channel_id, ts), turns.c.text_hash != found)
        return await self._mark("edited_at", team_id, channel_id, [scored, asked], said)

    async def note_deleted(self, team_id: str, channel_id: str, ts: str) -> Sequence[int]:
        """Marks the cases that were read from this message; those at rest lose their texts.

        Of a reply of several messages, the deleted one leaves: the case is then marked as edited.
        """
        shortened = await self._shorten(team_id, channel_id, ts)
        scored = sa.and_(cases.c.message_ts == ts, is_one_message(Part.RESPONSE))
        asked = cases.c.question_ts == ts
        said = sa.and_(_is_said_at(team_id, channel_id, ts), cases.c.id.not_in(shortened))
        return [
            *shortened,
            *await self._mark("deleted_at", team_id, channel_id, [scored, asked], said),
        ]

    async def note_added(self, case: LoggedCase) -> None:
        """Marks a case whose reply has gone on since it was scored, like an edited one, and others
        of its words.
        """
        is_same = cases.c.message_ts == case.message_ts, cases.c.response_hash == case.response_hash
        its = [cases.c.id == case.id, sa.and_(*is_same, cases.c.probability.is_(None))]
        await self._mark("edited_at", case.team_id, case.channel_id, its, sa.false())

    async def last_read(
        self, team_id: str, channel_id: str, thread_ts: str, by: str, ts: str
    ) -> LoggedCase | None:
        """The newest case, but for watched ones, of what an author wrote in a thread before `ts`."""
        its = sa.select(cases).filter_by(
            team_id=team_id, channel_id=channel_id, author_id=by, probability=None
        )
        is_there = sa.or_(cases.c.parent_ts == thread_ts, cases.c.message_ts == thread_ts)
        # A range of the index over messages; a thread is seldom old.
        its = its.where(cases.c.message_ts >= thread_ts, cases.c.message_ts < ts, is_there)
        return await self._database.first(
            LoggedCase, its.order_by(cases.c.message_ts.desc(), cases.c.id.desc())
        )

    @in_transaction
    async def look_again(self, connection: AsyncConnection, case: LoggedCase) -> None:
        """Has a job read the reply again, which may have gone on."""
        await connection.execute(sa.update(cases).filter_by(id=case.id).values(is_stale=True))
        await put_jobs(self._database, connection, [Job(JobKind.AMEND, case.team_id, case.id)])

    async def _shorten(self, team_id: str, channel_id: str, ts: str) -> Sequence[int]:
        """Takes a message out of the replies, at rest, that have others; returns the numbers of the
        cases.

        A reply is known by its first message that is left; one that a watch drew, by the one that
        it drew.
        """
        is_it = sa.and_(_is_said_at(team_id, channel_id, ts), turns.c.part == Part.RESPONSE)
        at_rest = (
            sa.select(cases.c.id)
            .join(turns, is_of_case(turns))
            .where(is_it, cases.c.status.in_(AT_REST))
        )

        async def shorten(connection: AsyncConnection) -> Sequence[int]:
            await lock_words(connection)
            shortened = [
                case_id
                for case_id in (await connection.execute(at_rest)).scalars().all()
                if await _drop_part(connection, team_id, channel_id, case_id, ts)
            ]
            dropped = [(team_id, case_id) for case_id in shortened]
            await _drop_quotes(self._database, connection, dropped)
            amendments = [Job(JobKind.AMEND, team_id, case_id) for case_id in shortened]
            await put_jobs(self._database, connection, amendments)
            return shortened

        # Almost no message was ever scored, so this looks without the writers' lock.
        if not await self._database.values(at_rest.limit(1)):
            return []
        return await self._database.write(shorten)

    async def _mark(
        self,
        column: str,
        team_id: str,
        channel_id: str,
        named: Sequence[Condition],
        said: Condition,
    ) -> Sequence[int]:
        """Marks in this column the cases for which one of `named` holds, or which have a turn for
        which `said` does.
        """
        # Almost no message was ever scored, so this looks without the writers' lock. It is a union,
        # because SQLite would go through the whole channel for an "or".
        is_new = sa.and_(
            cases.c.team_id == team_id, cases.c.channel_id == channel_id, cases.c[column].is_(None)
        )
        ids = sa.select(cases.c.id).where(is_new)
        found = await self._database.values(
            sa.union(
                *(ids.where(each) for each in named), ids.join(turns, is_of_case(turns)).where(said)
            )
        )
        if not found:
            return []
        is_found = cases.c.id.in_(found)
        marks = {column: utc_now(), "is_stale": True}

        async def mark(connection: AsyncConnection) -> None:
            await lock_words(connection)
            await connection.execute(sa.update(cases).where(is_found).values(marks))
            if column == "deleted_at":
                await drop_texts(
                    self._database, connection, sa.and_(is_found, cases.c.status.in_(AT_REST))
                )
            await put_jobs(
                self._database,
                connection,
                [Job(JobKind.AMEND, team_id, number) for number in found],
            )

        await self._database.write(mark)
        return found

    async def note_quoted(
        self, team_id: str, case_ids: Collection[int], channel_id: str, ts: str
    ) -> Sequence[int]:
        """Records that a message quotes the reasons of these cases; returns those that have none to
        be quoted (now).
        """
        place = {"channel_id": channel_id, "ts": ts}
        has_reason = sa.and_(
            cases.c.team_id == team_id, cases.c.id.in_(case_ids), cases.c.justification != ""
        )
        is_noted = (
            sa.select(quotes.c.ts).filter_by(**place).where(quotes.c.case_id == cases.c.id).exists()
        )
        rows = rows_of_cases(quotes, sa.and_(has_reason, ~is_noted), **place)
        await self._database.execute(sa.insert(quotes).from_select(*rows))
        kept = await self._database.values(sa.select(cases.c.id).where(has_reason))
        return [each for each in case_ids if each not in kept]

    async def quoted(self, case_ids: Collection[int]) -> Sequence[tuple[str, str]]:
        """Channel and ts of each post, or file, that quotes the reason of one of these cases."""
        posts = sa.select(quotes.c.channel_id, quotes.c.ts).where(quotes.c.case_id.in_(case_ids))
        return [(row.channel_id, row.ts) for row in await self._database.all(posts.distinct())]

    async def with_reason(self, case_ids: Collection[int]) -> list[int]:
        has_reason = sa.and_(cases.c.id.in_(case_ids), cases.c.justification != "")
        return await self._database.values(sa.select(cases.c.id).where(has_reason))

    async def case(self, case_id: int) -> LoggedCase | None:
        """The case, if its verdict in Slack is out of date; otherwise None."""
        return await self._database.first(
            LoggedCase, sa.select(cases).where(IS_STALE, cases.c.id == case_id)
        )

    async def resubmit(self, team_id: str) -> None:
        """Writes the missing jobs for a team's stale verdicts: a safety net, and how a queue
        starts.
        """
        query = sa.select(cases.c.id).where(
            IS_STALE, is_of_team(team_id), cases.c.status == CaseStatus.DELIVERED
        )
        stale = await self._database.values(query.order_by(cases.c.id).limit(_AT_ONCE))
        await submit_jobs(
            self._database,
            [Job(JobKind.AMEND, team_id, each, key=f"amend/{each}") for each in stale],
        )

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


def _is_said_at(team_id: str, channel_id: str, ts: str) -> Condition:
    is_there = sa.and_(turns.c.team_id == team_id, turns.c.channel_id == channel_id)
    return sa.and_(is_there, turns.c.ts == ts, turns.c.part != Part.SHARED)


async def _drop_part(
    connection: AsyncConnection, team_id: str, channel_id: str, case_id: int, ts: str
) -> bool:
    """Whether a message was taken out of a case's reply; not if no other has words left: then the
    reply counts as deleted, so that the verdict quotes nothing.
    """
    parts = {"team_id": team_id, "case_id": case_id, "part": Part.RESPONSE}
    others = sa.select(turns.c.ts, turns.c.text).filter_by(**parts).where(turns.c.ts != ts)
    left = (await connection.execute(others.order_by(turns.c.position))).all()
    texts = [row.text for row in left]
    if not texts or None in texts:
        return False
    await connection.execute(sa.delete(turns).filter_by(**parts, ts=ts))
    # The hash of the response stays, because the score is of all of it.
    shortening = sa.update(cases).filter_by(id=case_id)
    shortened = shortening.values(
        response=join_texts(texts),
        messages=len(texts),
        justification="",
        edited_at=utc_now(),
        is_stale=True,
    )
    await connection.execute(shortened)
    known_by_it = sa.update(cases).filter_by(
        team_id=team_id, channel_id=channel_id, message_ts=ts, probability=None
    )
    await connection.execute(known_by_it.values(message_ts=left[0].ts))
    return True
