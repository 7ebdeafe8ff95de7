"""The only access to the database: every read and every write goes through it, and is always
completed.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa
from cachetools import LRUCache
from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.sql.dml import Insert

from bot.domain.case import Case, LoggedCase
from bot.domain.fair_queue import FairQueue
from bot.store.errors import NoAnswerError
from bot.store.tables import Condition
from bot.store.writer import AFTERWARDS, AT_ONCE, Work, Writer, after_commit, drive, visit

if TYPE_CHECKING:
    from pgqueuer.adapters.inmemory import InMemoryQueries
    from sqlalchemy.dialects import postgresql

T = TypeVar("T")
P = ParamSpec("P")

_AT_ONCE_ON_A_SERVER = 4  # each has a connection of its own, and adding a case needs one, too
_ADDED_KEPT = 1000
_PAGE = 500


class Database:
    """Reads and writes that a cancelled caller never leaves half done.

    aiosqlite works in a thread: cancelled within `BEGIN IMMEDIATE` or before `COMMIT`, it would
    leave the file locked (https://github.com/omnilib/aiosqlite/issues/259,
    https://github.com/sqlalchemy/sqlalchemy/issues/11760). So a cancelled caller here waits until
    what was begun is done.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"
        # Settling has a queue, so that adding a case, and answering Slack, goes ahead of a thousand
        # old cases.
        self._settling = FairQueue(AT_ONCE if self.is_sqlite else _AT_ONCE_ON_A_SERVER)
        self.added: LRUCache[int, LoggedCase] = LRUCache(_ADDED_KEPT)
        """Cases in SQLite that this process has added and not yet taken up; emptied before others than cases write."""
        self._writer = Writer(engine, self.added.clear) if self.is_sqlite else None
        self._under_way = set[asyncio.Future[Any]]()
        # On a server, a single statement without `BEGIN` and `COMMIT` is one round trip instead of
        # three.
        self._by_statement = (
            engine if self.is_sqlite else engine.execution_options(isolation_level="AUTOCOMMIT")
        )
        self.queue: InMemoryQueries | None = None  # beside SQLite, if this process settles cases
        self.scrubbed_at: datetime | None = None
        """When SQLite's journal was emptied after the last deletion; None while that is still to be done."""
        if self.is_sqlite:
            sa.event.listen(engine.sync_engine, "after_cursor_execute", self._on_execute)

    async def close(self) -> None:
        """Closes the connections once nothing uses them; those to a silent server are left to the
        operating system.
        """
        await asyncio.wait([asyncio.ensure_future(self._end())], timeout=3)

    async def _end(self) -> None:
        while under_way := self._under_way | (self._writer.under_way if self._writer else set()):
            await asyncio.wait(under_way)
        if self._writer:
            await self._writer.close()
        await self.engine.dispose()

    async def all(
        self, query: sa.Executable, values: Mapping[str, Any] | None = None
    ) -> Sequence[sa.Row[Any]]:
        async def fetch(connection: AsyncConnection) -> Sequence[sa.Row[Any]]:
            return (await connection.execute(query, values)).all()

        return await self.read(fetch)

    async def rows(self, kind: Callable[..., T], query: sa.Executable) -> list[T]:
        """All rows of a query, each as a `kind` made from its columns by name."""
        return [kind(**row._mapping) for row in await self.all(query)]

    async def first(self, kind: Callable[..., T], query: sa.Select[Any]) -> T | None:
        """The first row of a query, as in `rows`; None if there is none."""
        return next(iter(await self.rows(kind, query.limit(1))), None)

    async def values(self, query: sa.Executable) -> list[Any]:
        """The values of a query's only column."""
        return [row[0] for row in await self.all(query)]

    async def value(self, query: sa.Executable) -> Any:
        """The value in the first row of a query's only column; None if there is no row."""
        return next(iter(await self.values(query)), None)

    async def one(
        self, query: sa.Executable, values: Mapping[str, Any] | None = None
    ) -> sa.Row[Any] | None:
        """The row of a query that returns at most one; `values` are its parameters."""
        return next(iter(await self.all(query, values)), None)

    async def pages(
        self, query: sa.Select[Any], *keys: sa.ColumnElement[Any]
    ) -> AsyncIterator[Sequence[sa.Row[Any]]]:
        """The rows of a query, some hundred at a time, in the order of these columns, by which no
        two are the same.
        """
        some = query.order_by(*keys).limit(_PAGE)
        page = await self.all(some)
        while page:
            yield page
            last = sa.tuple_(*(page[-1]._mapping[key] for key in keys))
            page = await self.all(some.where(sa.tuple_(*keys) > last))

    async def note_deletion(self) -> None:
        """Has SQLite's journal emptied.

        A `DELETE` calls this itself; an update that removes words has to.
        """
        self.scrubbed_at = None

    def _on_execute(self, connection: Any, cursor: Any, *of_statement: Any) -> None:
        if of_statement[2].isdelete and cursor.rowcount > 0:
            after_commit(connection, self.note_deletion)

    async def read(self, work: Work[T]) -> T:
        return await self._to_the_end(self._over_a_connection(work))

    async def execute(self, statement: sa.Executable) -> int:
        async def change(connection: AsyncConnection) -> int:
            return (await connection.execute(statement)).rowcount

        return await self.write(change, is_single=True)

    async def write(self, work: Work[T], *, is_of_case: bool = False, is_single: bool = False) -> T:
        """The result of work in a transaction, committed to the disk; if it fails, nothing of it is
        left.

        With SQLite, works of cases that wait together share a transaction, each as if it had its
        own; any other begins after them, so that a long one is not before many cases. A single
        statement is a transaction by itself.
        """
        if self._writer:
            return await self._writer.do(work, is_of_case=is_of_case)
        if is_single:
            return await self.read(work)
        return await self._to_the_end(self._in_a_transaction(work))

    async def settle(self, case: Case | None, work: Work[T], *, is_single: bool = False) -> T:
        """Like `write`, for a step of a case that Slack does not wait for: only some of these run
        at a time.

        Steps for which the case is not known yet queue as a channel of their own.
        """
        line = (case.team_id, case.channel_id, case.requester_id) if case else ("", "", "")
        async with self._settling.slot(*line):
            return await self.write(work, is_of_case=True, is_single=is_single)

    async def _to_the_end(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.ensure_future(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        try:
            return await asyncio.shield(task)
        except TimeoutError as exc:
            raise NoAnswerError("no answer in time") from exc
        except asyncio.CancelledError:
            await asyncio.wait([task])
            # retrieved, so that asyncio does not complain about it
            task.cancelled() or task.exception()
            raise

    async def _over_a_connection(self, work: Work[T]) -> T:
        async with self._by_statement.connect() as connection:
            if self.is_sqlite:
                return await visit(connection, lambda _: drive(work(connection)))
            return await work(connection)

    async def _in_a_transaction(self, work: Work[T]) -> T:
        afterwards: list[Callable[[], Awaitable[object]]] = []
        async with self.engine.begin() as connection:
            connection.info[AFTERWARDS] = afterwards
            result = await work(connection)
        for follow in afterwards:
            await follow()
        return result


class StoreQueries:
    """Queries that belong together, of one feature or one kind; `Store` has one of each."""

    def __init__(self, database: Database) -> None:
        self._database = database


Queries = TypeVar("Queries", bound=StoreQueries)


def in_transaction(
    work: Callable[Concatenate[Queries, AsyncConnection, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Queries, P], Coroutine[Any, Any, T]]:
    """Makes a method that works over a connection a `write` of its own, called without the
    connection.
    """

    @wraps(work)
    async def write(queries: Queries, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await queries._database.write(
            lambda connection: work(queries, connection, *args, **kwargs)
        )

    return write


def columns_of(table: sa.Table, kind: type, *without: str) -> list[sa.Column[Any]]:
    """The columns that a dataclass has as fields, except those in `without`."""
    return [table.c[each.name] for each in fields(kind) if each.name not in without]


_TURN = sa.text("SELECT pg_advisory_xact_lock(hashtextextended('slack-judge ' || :at, 0))")


async def lock_for_transaction(connection: AsyncConnection, at: str) -> None:
    """Waits until no other transaction holds the lock `at`, and holds it until this one ends;
    SQLite needs none.
    """
    if connection.dialect.name == "postgresql":
        await connection.execute(_TURN, {"at": at})


async def lock_words(connection: AsyncConnection) -> None:
    """Lets one transaction at a time remove words or keep what was made of them; before any row, so
    that none block each other.
    """
    await lock_for_transaction(connection, "words")


def upsert(
    database: Database,
    table: sa.Table,
    values: Mapping[str, Any],
    keep: tuple[str, ...] = (),
    where: Condition | None = None,
) -> Insert:
    """A statement that inserts a row, or updates the one with the same primary key if `where` holds
    for it.

    The columns in `keep` are not updated.
    """
    statement = insert_into(database, table).values(**values)
    keys = [column.name for column in table.primary_key]
    changes = {name: value for name, value in values.items() if name not in (*keys, *keep)}
    return statement.on_conflict_do_update(index_elements=keys, set_=changes, where=where)


def insert_new(database: Database, table: sa.Table, values: Mapping[str, Any]) -> Insert:
    """A statement that inserts a row, unless there is one with the same primary key."""
    return insert_into(database, table).values(**values).on_conflict_do_nothing()


async def claim(
    database: Database,
    table: sa.Table,
    key: Mapping[str, Any],
    values: Mapping[str, Any],
    is_left: Condition,
) -> bool | None:
    """Takes the lease that the row with this primary key stands for, which one process has at a
    time.

    Returns True if it was never taken before, False if it was taken over, as `is_left` allows, and
    None if another holds it.
    """
    if await database.execute(insert_new(database, table, {**key, **values})):
        return True
    taken_over = sa.update(table).filter_by(**key).where(is_left).values(**values)
    return False if await database.execute(taken_over) else None


def insert_into(database: Database, table: sa.Table) -> "sqlite.Insert | postgresql.Insert":
    if database.is_sqlite:
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # 2 MiB that an app with SQLite does without

    return postgresql.insert(table)
