"""SQLite over aiosqlite, with one visit to a connection's thread for each statement.

aiosqlite has each connection work in a thread of its own. As SQLAlchemy uses it, a statement costs four visits there (a
cursor is made, executed, fetched from and closed), and a connection that is given back a fifth, to roll back what was
never begun. SQLAlchemy takes any connection of the driver's instead (`async_creator_fn`).
"""

import sqlite3
from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import aiosqlite


class Cursor:
    """What SQLAlchemy needs of a cursor: it executes, and then knows all rows."""

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._rows: Sequence[Any] = ()
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.arraysize = 1

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, sql: str, parameters: Any = ()) -> None:
        """Executes a statement and fetches its rows."""
        await self._connection.visit(partial(self._execute, "execute", sql, parameters))

    async def executemany(self, sql: str, parameters: Any) -> None:
        """Executes a statement with each of several sets of values."""
        await self._connection.visit(partial(self._execute, "executemany", sql, parameters))

    async def fetchall(self) -> Sequence[Any]:
        """The rows."""
        return self._rows

    async def close(self) -> None:
        """There is nothing left to close."""

    def _execute(self, method: str, sql: str, parameters: Any, connection: sqlite3.Connection) -> None:
        cursor = getattr(connection, method)(sql, parameters)
        self.description, self.rowcount, self.lastrowid = cursor.description, cursor.rowcount, cursor.lastrowid
        self._rows = cursor.fetchall() if cursor.description else ()
        cursor.close()


class Connection(aiosqlite.Connection):
    """A connection with such cursors."""

    def cursor(self) -> Cursor:  # type: ignore[override]
        """A cursor that visits the thread once."""
        return Cursor(self)

    async def visit(self, work: Any) -> Any:
        """What `work` gives, done with the connection in its thread."""
        return await self._execute(work, self._conn)  # type: ignore[no-untyped-call]

    async def rollback(self) -> None:
        """Rolls back the transaction, if there is one."""
        if self.in_transaction:
            await super().rollback()


async def connect(path: str, **arguments: Any) -> Connection:
    """An open connection to a file; its thread does not keep the process from ending."""
    connection = Connection(partial(sqlite3.connect, path, **arguments), iter_chunk_size=64)
    connection._thread.daemon = True
    await connection
    return connection
