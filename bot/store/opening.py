"""Opens the database: writable, migrated, with WAL and durable commits; raises clear errors if that
fails.
"""

import asyncio
import os
import sqlite3
import tempfile
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiosqlite
import sqlalchemy as sa
import structlog
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from bot.errors import StoreError
from bot.store import schema
from bot.store.address import Address, to_address
from bot.store.errors import STORE_ERRORS, reason_of
from bot.store.jobs import database_queue
from bot.store.ownership import make_file, make_folder
from bot.store.tables import metadata
from judge.errors import needs_extra

if TYPE_CHECKING:
    from alembic.config import Config

logger = structlog.get_logger(__name__)


MIGRATION_LOCK = 5_118_005  # any number that no other application uses
_PATIENCE_S = 5.0
_ON_A_SERVER = "wait for another process's migration, or end the one that hangs"


@asynccontextmanager
async def said_if_long(what_to_do: str) -> AsyncIterator[None]:
    waiting = asyncio.get_running_loop().call_later(
        _PATIENCE_S, lambda: logger.warning("waiting_for_the_database", do=what_to_do)
    )
    try:
        yield
    finally:
        waiting.cancel()


HEAD = "0020"
"""The newest migration, named here so that an up-to-date database is opened without Alembic."""
_MIGRATIONS = Path(__file__).parent / "migrations"
# asyncpg's default is to wait forever: a frozen server, or a network that drops packets, would stop
# everything.
QUERY_TIMEOUT_S = 10
_CONNECTIONS = (
    10  # kept open; those beyond a pool's size would be opened and closed for each transaction
)


async def open_engine(database_url: str) -> AsyncEngine:
    """An engine on the migrated database.

    Raises StoreError if the URL is wrong or it cannot be migrated.
    """
    address = to_address(database_url)
    if address.is_sqlite:
        check_writable(address)
    # No timeout: a migration may take long, and waits for another replica's.
    engine = connect(database_url, query_timeout_s=None)
    try:
        await (_migrate_file(engine) if address.is_sqlite else _migrate_server(engine))
    except _opening_errors(address) as exc:
        await engine.dispose()
        raise StoreError(
            f"DATABASE_URL {address.shown}: cannot be opened and migrated: {reason_of(exc)}"
        ) from exc
    if address.is_sqlite:
        return engine
    await engine.dispose()
    return connect(database_url)


async def require_log(database_url: str) -> None:
    """Raises StoreError if no bot has been at work in the database, or it is out of reach; creates
    nothing.
    """
    address = to_address(database_url)
    setting = f"DATABASE_URL {address.shown}"
    advice = "name the database of your bot, or create one with judge-bot serve"
    if address.file is None:
        engine = connect(database_url)
    elif address.file.exists():
        # Read-only: opened as the bot opens it, another application's file would be switched to WAL
        # mode.
        read_only = {"mode": "ro", "uri": "true"}
        url = address.url.set(database=address.file.as_uri(), query=read_only)
        engine = create_async_engine(url)
    else:
        raise StoreError(f"{setting}: there is no such file; {advice}")
    try:
        async with engine.connect() as connection:
            has_log = await connection.run_sync(
                lambda opened: sa.inspect(opened).has_table(schema.cases.name)
            )
    except STORE_ERRORS as exc:
        raise StoreError(f"{setting}: the database is out of reach: {reason_of(exc)}") from exc
    finally:
        await engine.dispose()
    if not has_log:
        raise StoreError(f"{setting}: it has no tables; {advice}")


def connect(database_url: str, query_timeout_s: float | None = QUERY_TIMEOUT_S) -> AsyncEngine:
    """An engine on a database as it is, with this timeout for each query.

    Raises StoreError if the URL is wrong.
    """
    address = to_address(database_url)
    arguments = address.arguments | {"command_timeout": query_timeout_s}
    if address.is_sqlite:
        arguments = {"async_creator_fn": _connect_sqlite}
    # An error that shows its parameters would put the judged texts into the log file.
    # With SQLite, the connection that was used last is the next: it has its pages and statements at
    # hand.
    pool: dict[str, Any] = {
        "pool_size": _CONNECTIONS,
        "max_overflow": 0,
        "pool_use_lifo": address.is_sqlite,
    }
    with needs_extra("DATABASE_URL: PostgreSQL", "postgres", "asyncpg", error=StoreError):
        engine = create_async_engine(
            address.url, hide_parameters=True, connect_args=arguments, **pool
        )
    if address.is_sqlite:
        _configure_sqlite(engine)
    else:
        _drop_silent_connections(engine)
    return engine


def _opening_errors(address: Address) -> tuple[type[Exception], ...]:
    errors = (DBAPIError, OSError, ValueError)
    if address.is_sqlite:
        return errors
    from asyncpg import PostgresError  # type: ignore[import-untyped] # installed only for PostgreSQL

    # The queue runs its statements through the driver, without SQLAlchemy.
    return (*errors, PostgresError)


def check_writable(address: Address, *, makes: bool = True) -> None:
    """Finds a read-only folder and a full disk at start, not at the first case; `makes` the empty
    file.
    """
    file = Path(address.url.database or "")
    try:
        if makes:
            make_folder(file.parent)
        with tempfile.TemporaryFile(
            dir=next(each for each in file.absolute().parents if each.is_dir())
        ) as probe:
            probe.write(b"\0" * (1 << 20))  # 1 MiB: a full disk may still take a few bytes
            probe.flush()
            os.fsync(probe.fileno())
        if makes:
            make_file(file)
    except OSError as exc:
        raise StoreError(
            f"DATABASE_URL {address.shown}: the folder cannot be written ({exc.strerror}); "
            "free some space, change the file's permissions, or choose another file"
        ) from exc
    if file.exists() and not os.access(file, os.W_OK):
        raise StoreError(
            f"DATABASE_URL {address.shown}: the file is read-only; change its permissions, "
            "or choose another"
        )


def _configure_sqlite(engine: AsyncEngine) -> None:
    """Makes commits durable.

    Writers queue up, because the driver takes the lock with a transaction's first write.
    """

    @sa.event.listens_for(engine.sync_engine, "connect")
    def on_connect(connection: Any, _record: object) -> None:
        connection.isolation_level = "IMMEDIATE"
        cursor = connection.cursor()
        cursor.execute("PRAGMA busy_timeout = 10000")  # ms
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        # Overwrites what is deleted, or moved to another page, with zeros.
        cursor.execute("PRAGMA secure_delete = ON")
        cursor.close()


def _drop_silent_connections(engine: AsyncEngine) -> None:
    """Replaces all connections when one does not answer in time, because it will not answer later."""

    @sa.event.listens_for(engine.sync_engine, "handle_error")
    def on_error(context: ExceptionContext) -> None:
        if isinstance(context.original_exception, TimeoutError):
            context.is_disconnect = True


def migrations(connection: sa.Connection) -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    return config


async def _migrate_server(engine: AsyncEngine) -> None:
    """Migrates our tables, and installs or upgrades pgqueuer's; one replica at a time."""
    async with engine.connect() as connection:
        queue = await database_queue(connection)
        async with said_if_long(_ON_A_SERVER):
            # A session lock, released with its connection, because the queue's part has its own
            # transactions.
            await queue.driver.execute("SELECT pg_advisory_lock($1)", MIGRATION_LOCK)
        async with connection.begin():
            await connection.run_sync(_migrate)
        await (queue.upgrade() if await queue.schema_is_installed() else queue.install())


async def _migrate_file(engine: AsyncEngine) -> None:
    async with (
        said_if_long(f"end what writes to {engine.url.database}"),
        engine.connect() as connection,
    ):
        # A migration in batch mode drops the old table, and what refers to its rows would go with
        # them. Within a transaction SQLite ignores this pragma.
        await connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
        # The driver begins no transaction for DDL by itself:
        # https://docs.sqlalchemy.org/en/21/dialects/sqlite.html#sqlite-transactions
        await connection.exec_driver_sql("BEGIN IMMEDIATE")
        await connection.run_sync(_migrate)
        await connection.commit()
        await connection.exec_driver_sql("PRAGMA foreign_keys = ON")


def _migrate(connection: sa.Connection) -> None:
    """Creates our tables, or brings them up to date; imports Alembic only if there is something to
    migrate.
    """
    found = None
    if sa.inspect(connection).has_table(schema.alembic_version.name):
        found = connection.execute(sa.select(schema.alembic_version.c.version_num)).scalar()
    if found is None:
        metadata.create_all(connection)
        connection.execute(sa.insert(schema.alembic_version).values(version_num=HEAD))
    if found in {None, HEAD}:
        return
    from alembic import command
    from alembic.script import ScriptDirectory

    config = migrations(connection)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found not in known:
        raise ValueError(
            f"it was last used by another version of this app (migration {found}); "
            "install that version again, restore an earlier backup, or name a new database"
        )
    command.upgrade(config, "head")


class _Connection(aiosqlite.Connection):
    """A connection that, called in its own thread as when `Database` works in it, works at once."""

    async def _execute(self, fn: Any, *args: Any, **kwargs: Any) -> Any:
        if threading.current_thread() is self._thread:
            return fn(*args, **kwargs)
        return await super()._execute(fn, *args, **kwargs)  # type: ignore[no-untyped-call]

    async def rollback(self) -> None:
        if self.in_transaction:  # SQLAlchemy rolls back whenever a connection is given back
            await super().rollback()


async def _connect_sqlite(path: str, **arguments: Any) -> aiosqlite.Connection:
    """An open connection to a file; its thread does not keep the process from ending."""
    connection = _Connection(partial(sqlite3.connect, path, **arguments), iter_chunk_size=64)
    connection._thread.daemon = True
    return await connection
