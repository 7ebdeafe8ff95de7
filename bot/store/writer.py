"""SQLite's one writer, and how work is done in the connection's thread."""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy.engine import Connection as SyncConnection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

T = TypeVar("T")


Work = Callable[[AsyncConnection], Coroutine[Any, Any, T]]
"""What is done over one connection, called once. It awaits nothing but the connection: SQLite runs it in a thread."""


AT_ONCE = 32


AFTERWARDS = "slack_judge_after_commit"


@dataclass(eq=False)
class _Write:
    """Work that waits for the writer, with the context of its caller, which has the deadline."""

    work: Work[Any]
    done: asyncio.Future[Any]
    context: Context = field(default_factory=copy_context)
    result: Any = None
    error: BaseException | None = None
    afterwards: list[Callable[[], Awaitable[object]]] = field(default_factory=list)


class Writer:
    """SQLite's one writer: while it commits others wait, and cases that wait then share the next
    commit.
    """

    def __init__(self, engine: AsyncEngine, before_others: Callable[[], None]) -> None:
        self._engine = engine
        self._before_others = before_others
        self._of_cases = deque[_Write]()
        self._others = deque[_Write]()
        self._task: asyncio.Task[None] | None = None
        self._connection: AsyncConnection | None = (
            None  # kept: going through the pool takes as long as an insert
        )

    async def close(self) -> None:
        connection = self._connection
        self._connection = None
        if connection:
            await connection.close()

    @property
    def under_way(self) -> set[asyncio.Task[None]]:
        return {self._task} if self._task else set()

    async def do(self, work: Work[T], *, is_of_case: bool) -> T:
        loop = asyncio.get_running_loop()
        line = self._of_cases if is_of_case else self._others
        write = _Write(work, loop.create_future())
        line.append(write)
        self._task = self._task or loop.create_task(self._run(), context=Context())
        try:
            return await asyncio.shield(write.done)
        except asyncio.CancelledError:
            if write in line:
                line.remove(write)  # not begun
            else:
                await asyncio.wait([write.done])
                write.done.exception()  # retrieved, so that asyncio does not complain about it
            raise

    async def _run(self) -> None:
        while self._of_cases or self._others:
            if self._of_cases:
                await self._commit(
                    [self._of_cases.popleft() for _ in range(min(len(self._of_cases), AT_ONCE))]
                )
            if self._others:
                self._before_others()
                await self._commit([self._others.popleft()])
        self._task = None

    async def _commit(self, writes: Sequence[_Write]) -> None:
        error: BaseException | None = None
        try:
            connection = self._connection = self._connection or await self._engine.connect()
            await visit(connection, lambda sqlite: drive(_transaction(connection, sqlite, writes)))
        except BaseException as exc:  # noqa: BLE001 - raised in each caller
            error = exc
            await self.close()  # the pool mends or replaces it
        for write in writes:
            try:
                if failed := write.error or error:
                    raise failed
                for follow in write.afterwards:
                    await follow()
                write.done.set_result(write.result)
            except BaseException as exc:  # noqa: BLE001 - raised in the caller
                write.done.set_exception(exc)


async def visit(connection: AsyncConnection, do: Callable[[sqlite3.Connection], T]) -> T:
    """Does something in the connection's thread; with a visit for each statement, a case took twice
    the time.
    """
    driver: Any = (await connection.get_raw_connection()).driver_connection
    return await driver._execute(do, driver._conn)  # type: ignore[no-any-return]


def drive(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine from its beginning to its end, in this thread."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    raise RuntimeError("it awaits something other than its connection")


async def _transaction(
    connection: AsyncConnection, sqlite: sqlite3.Connection, writes: Sequence[_Write]
) -> None:
    async with connection.begin():
        # The driver would begin it only after the savepoint.
        await connection.exec_driver_sql("BEGIN IMMEDIATE")
        for write in writes:
            connection.info[AFTERWARDS] = write.afterwards
            # Without SQLAlchemy, which takes longer for it than SQLite; it has nothing to wait for,
            # or to fail at.
            sqlite.execute("SAVEPOINT work")
            try:
                write.result = write.context.run(drive, write.work(connection))
            except Exception as exc:
                if not sqlite.in_transaction:
                    raise  # SQLite has rolled back all of it, as it may when the disk is full
                write.error = exc
                await connection.exec_driver_sql("ROLLBACK TO work")
            sqlite.execute("RELEASE work")


def after_commit(
    connection: AsyncConnection | SyncConnection, follow: Callable[[], Awaitable[object]]
) -> None:
    """Has `follow` called once the transaction of this connection is committed; if it is rolled
    back, never.
    """
    connection.info[AFTERWARDS].append(follow)
