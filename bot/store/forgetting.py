"""Forgetting and personal data: what is deleted here is also gone from the file."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import CaseStatus
from bot.domain.clock import utc_now
from bot.store import spending
from bot.store.audit import Act, Action, note
from bot.store.cases import AT_REST
from bot.store.database import StoreQueries, in_transaction, lock_words
from bot.store.digests import drop_of_reply
from bot.store.figures import to_ts
from bot.store.jobs import amending, put_jobs
from bot.store.schema import (
    audit,
    cases,
    releases,
    replies,
    seen_messages,
    thread_signs,
    thumbs,
)
from bot.store.tables import Condition, metadata
from bot.store.visibility import same_reply
from bot.store.watches import JUDGE
from bot.store.writer import Work

BATCH = 500
PAUSE_S = 0.05  # lets others write in between
# A checkpoint holds up all writers while it waits for a reader, so it gives up soon.
_CHECKPOINT_PATIENCE_MS = 200
_OF_TEAMS = [table for table in reversed(metadata.sorted_tables) if "team_id" in table.c]
"""Each before those that it refers to."""

logger = structlog.get_logger(__name__)


class Forgetting(StoreQueries):
    @in_transaction
    async def forget(
        self, connection: AsyncConnection, case_ids: Sequence[int], by: str
    ) -> Sequence[int]:
        """Deletes those of these cases that are at rest, for the person `by`, and returns their
        numbers.
        """
        await lock_words(connection)
        is_gone = sa.and_(cases.c.id.in_(case_ids), cases.c.status.in_(AT_REST))
        await spending.keep(connection, is_gone)
        deletion = sa.delete(cases).where(is_gone).returning(cases)
        gone = (await connection.execute(deletion)).all()
        for row in gone:
            await self._unfold_earlier(connection, row)
            await drop_of_reply(connection, row)
        acts = [Act(row.team_id, by, Action.FORGOT_CASE, case_id=row.id) for row in gone]
        await note(connection, acts)
        return [row.id for row in gone]

    async def _unfold_earlier(
        self, connection: AsyncConnection, row: sa.Row[*tuple[Any, ...]]
    ) -> None:
        """Has a job bring back the earlier verdicts on the same reply as a deleted case."""
        is_earlier = sa.and_(same_reply(row), cases.c.id < row.id, cases.c.reply_ts.is_not(None))
        unfolding = sa.update(cases).where(is_earlier).values(is_stale=True).returning(cases.c.id)
        earlier = (await connection.execute(unfolding)).scalars()
        await put_jobs(self._database, connection, amending(row.team_id, earlier))

    async def count(self, before: datetime) -> int:
        number = sa.select(sa.func.count()).where(is_old(before, AT_REST))
        return int(await self._database.value(number))

    async def forget_older(self, before: datetime, by: str | None = None) -> int:
        """Deletes the cases created before this time, in small batches, and what else is as old;
        returns their number.

        `by` is who purges, and is recorded with each batch in the audit; None means the retention
        setting, which is not recorded. Several processes may do this at the same time.
        """
        total = await self.forget_where(is_old(before, AT_REST), by)
        for deletion in (
            sa.delete(replies).where(replies.c.day < f"{before:%Y-%m-%d}"),
            sa.delete(thumbs).where(thumbs.c.changed_at < before),
            sa.delete(seen_messages).where(seen_messages.c.ts < to_ts(before)),
            sa.delete(thread_signs).where(thread_signs.c.thread_ts < to_ts(before)),
            sa.delete(releases).where(is_old_release(before)),
        ):
            await self._database.execute(deletion)
        return total

    async def stored(self, team_ids: Iterable[str]) -> set[str]:
        """Those of these workspaces of which anything is stored."""
        stored = set[str]()
        left = iter(team_ids)
        while some := list(islice(left, BATCH)):  # databases limit the parameters
            queries = [
                sa.select(table.c.team_id).where(table.c.team_id.in_(some)) for table in _OF_TEAMS
            ]
            stored.update(await self._database.values(sa.union(*queries)))
        return stored

    async def forget_team(self, team_id: str, by: str) -> int:
        """Deletes everything of a workspace, cases first and in small batches; returns the number
        of its cases.

        Only what was purged, and by whom, stays in the audit.
        """
        total = await self.forget_where(cases.c.team_id == team_id, by)

        async def remove(connection: AsyncConnection) -> None:
            await lock_words(connection)
            for table in _OF_TEAMS:
                kept = [audit.c.what != Action.PURGED] if table is audit else []
                await connection.execute(sa.delete(table).where(table.c.team_id == team_id, *kept))
            await note(connection, [Act(team_id, by, Action.PURGED)])

        await self._database.write(remove)
        return total

    async def move_team(self, team_id: str, to: str) -> None:
        """Gives everything of a workspace to its organisation, cases last and in small batches.

        Of two settings with the same key, the organisation's stays; of two cases, both.
        """

        async def move(connection: AsyncConnection) -> None:
            await lock_words(connection)
            for table in _OF_TEAMS:
                # What is about a case, or a message, follows it.
                if table is cases or table.foreign_keys:
                    continue
                is_teams = table.c.team_id == team_id
                for has_twin in _twins(table, to):
                    await connection.execute(sa.delete(table).where(is_teams, has_twin))
                await connection.execute(sa.update(table).where(is_teams).values(team_id=to))

        await self._database.write(move)
        total = await self._move_cases(team_id, to)
        logger.info("workspace_moved", team=team_id, to=to, cases=total)

    async def _move_cases(self, team_id: str, to: str) -> int:
        some = sa.select(cases.c.id).where(cases.c.team_id == team_id).limit(BATCH)
        twin = cases.alias()
        is_twin = sa.exists().where(twin.c.team_id == to, twin.c.key == cases.c.key)
        key = sa.case((is_twin, cases.c.key.concat(f" of {team_id}")), else_=cases.c.key)
        # An attempt that is under way with the workspace's token no longer holds its case. A case
        # that another process has moved meanwhile may be held again, and keeps its holder.
        is_ours = cases.c.id.in_(some), cases.c.team_id == team_id
        moved = sa.update(cases).where(*is_ours).values(team_id=to, key=key, lease_owner=None)

        async def move(connection: AsyncConnection) -> int:
            return (await connection.execute(moved)).rowcount

        return await self.in_batches(move)

    async def forget_where(self, which: Condition, by: str | None) -> int:
        """Deletes these cases, in small batches; `by` is recorded as in `forget_older`."""
        some = sa.select(cases.c.id).where(which).order_by(cases.c.created_at).limit(BATCH)
        # PostgreSQL: skips what another process is deleting, so that the two never wait for each
        # other.
        is_ours = cases.c.id.in_(some.with_for_update(skip_locked=True))
        deletion = sa.delete(cases).where(is_ours).returning(cases.c.team_id)

        async def remove(connection: AsyncConnection) -> int:
            await lock_words(connection)
            teams = (await connection.execute(deletion)).scalars().all()
            if by is not None:
                await _note_purge(connection, by, teams)
            return len(teams)

        return await self.in_batches(remove)

    async def in_batches(self, work: Work[int]) -> int:
        total = 0
        while done := await self._database.write(work):
            total += done
            await asyncio.sleep(PAUSE_S)
        return total

    async def scrub(self, unless_since: datetime | None = None) -> bool:
        """Whether SQLite's journal was emptied of everything deleted; False if there was a reader
        at that moment.

        What PostgreSQL keeps of deleted rows is left to its VACUUM. Nothing is done if it was
        emptied after `unless_since` and nothing was deleted since.
        """
        scrubbed_at = self._database.scrubbed_at
        if unless_since and scrubbed_at and scrubbed_at >= unless_since:
            return True
        # Set first, so that what is deleted meanwhile is not missed.
        self._database.scrubbed_at = utc_now()
        is_busy = self._database.is_sqlite and await self._database.read(_truncate_journal)
        if is_busy:
            self._database.scrubbed_at = None
            logger.info("journal_in_use", left_to="the next minute")
        return not is_busy


async def _note_purge(connection: AsyncConnection, by: str, teams: Sequence[str]) -> None:
    """Records who has deleted a case of each of these teams."""
    number_of = Counter(teams)
    acts = [Act(team_id, by, Action.PURGED, cases=number_of[team_id]) for team_id in number_of]
    await note(connection, acts)


def _twins(table: sa.Table, team_id: str) -> Iterator[Condition]:
    """For each unique key of a table, whether that workspace has a row with the same."""
    twin = table.alias()
    for key in table.constraints:
        if not isinstance(key, sa.PrimaryKeyConstraint | sa.UniqueConstraint):
            continue
        if "team_id" in key.columns:
            others = [column for column in key.columns if column.name != "team_id"]
            is_same = [twin.c[column.name] == column for column in others]
            yield sa.exists().where(twin.c.team_id == team_id, *is_same)


async def _truncate_journal(connection: AsyncConnection) -> Any:
    patience_ms = await _pragma(connection, "busy_timeout")
    await _pragma(connection, f"busy_timeout = {_CHECKPOINT_PATIENCE_MS}")
    try:
        return await _pragma(connection, "wal_checkpoint(TRUNCATE)")
    finally:
        await _pragma(connection, f"busy_timeout = {patience_ms}")


def is_old(before: datetime, statuses: Sequence[CaseStatus]) -> Condition:
    return sa.and_(cases.c.created_at < before, cases.c.status.in_(statuses))


def is_old_release(before: datetime) -> Condition:
    """Whether a person marked a release before this time; later cases need the judge's own."""
    return sa.and_(releases.c.set_at < before, releases.c.set_by != JUDGE)


async def _pragma(connection: AsyncConnection, pragma: str) -> Any:
    return (await connection.exec_driver_sql(f"PRAGMA {pragma}")).scalar()
