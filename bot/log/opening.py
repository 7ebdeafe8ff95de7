"""Opening the database: writable, migrated, WAL, durable commits; clear errors where it is not."""

import os
import tempfile
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import Connection, event
from sqlalchemy.engine import URL, ExceptionContext, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from bot.errors import LogError
from bot.log import sqlite
from bot.log.jobs import database_queue
from bot.log.private import make_file, make_folder

_MIGRATIONS = Path(__file__).parent / "migrations"
_DRIVERS = dict.fromkeys(("postgres", "postgresql"), "postgresql+asyncpg") | {"sqlite": "sqlite+aiosqlite"}
_BUSY_TIMEOUT_S = 10
# asyncpg waits for ever otherwise: a server that is frozen, or a network that swallows packets, would stop everything.
QUERY_TIMEOUT_S = 10
_CONNECTIONS = 10  # kept open; what exceeds a pool's size would be opened and closed for each transaction
_PROBE_BYTES = 1 << 20
MIGRATION_LOCK = 5_118_005  # any number that nobody else takes


async def open_engine(database_url: str) -> AsyncEngine:
    """An engine on the migrated database.

    Raises:
        LogError: The URL is wrong, or the database cannot be written or migrated.
    """
    url = _parse(database_url)
    if url.get_backend_name() == "sqlite":
        _check_writable(url)
    # A migration takes as long as it takes, and waits for that of another replica.
    engine = connect(database_url, query_timeout_s=None)
    try:
        async with engine.begin() as connection:
            await connection.run_sync(_migrate)
        if engine.dialect.name == "postgresql":
            async with engine.connect() as connection:
                await _install_queue(connection)
    except (DBAPIError, CommandError, OSError) as exc:
        await engine.dispose()
        reason = exc.orig if isinstance(exc, DBAPIError) else exc
        raise LogError(
            f"DATABASE_URL {_shown(url)}: cannot be opened and migrated: {str(reason) or 'no answer in time'}"
        ) from exc
    if url.get_backend_name() == "sqlite":
        return engine
    await engine.dispose()
    return connect(database_url)


def connect(database_url: str, query_timeout_s: float | None = QUERY_TIMEOUT_S) -> AsyncEngine:
    """An engine on a database as it is.

    Args:
        database_url: Where the database is.
        query_timeout_s: How long PostgreSQL may take for one query; None is for ever.

    Raises:
        LogError: The URL is wrong.
    """
    url = _parse(database_url)
    arguments: dict[str, Any] = {"timeout": QUERY_TIMEOUT_S, "command_timeout": query_timeout_s}
    if url.get_backend_name() == "sqlite":
        arguments = {"async_creator_fn": sqlite.connect}
    try:
        # An error that shows its parameters would put the judged texts into the log file.
        engine = create_async_engine(
            url, hide_parameters=True, pool_size=_CONNECTIONS, max_overflow=0, connect_args=arguments
        )
    except (ModuleNotFoundError, NoSuchModuleError) as exc:
        raise LogError(
            f"DATABASE_URL: no driver for {url.drivername!r}; expected sqlite+aiosqlite:///FILE, or "
            "postgresql+asyncpg://USER:PASSWORD@HOST/NAME with slack-judge[postgres] installed"
        ) from exc
    if engine.dialect.name == "sqlite":
        _configure_sqlite(engine)
    else:
        _drop_silent_connections(engine)
    return engine


def _parse(database_url: str) -> URL:
    try:
        url = make_url(database_url)
    except ArgumentError as exc:
        raise LogError("DATABASE_URL: expected a URL such as sqlite+aiosqlite:///slack-judge.db") from exc
    url = url.set(drivername=_DRIVERS.get(url.drivername, url.drivername))
    if url.get_backend_name() == "sqlite" and not _has_file(url):
        raise LogError(
            "DATABASE_URL: names no file, and a log in memory would be lost with the process; "
            "expected a URL such as sqlite+aiosqlite:///slack-judge.db"
        )
    return url


def _has_file(url: URL) -> bool:
    return url.database not in (None, "", ":memory:") and url.query.get("mode") != "memory"


def _shown(url: URL) -> str:
    return url.render_as_string(hide_password=True)


def _check_writable(url: URL) -> None:
    """A read-only folder and a full disk are found at start, not at the first case."""
    file = Path(url.database or "")
    try:
        make_folder(file.parent)
        with tempfile.TemporaryFile(dir=file.parent) as probe:
            probe.write(b"\0" * _PROBE_BYTES)
            probe.flush()
            os.fsync(probe.fileno())
        make_file(file)
    except OSError as exc:
        raise LogError(
            f"DATABASE_URL {_shown(url)}: the folder cannot be written ({exc.strerror}); "
            "free some space, mend its permissions, or name another file"
        ) from exc
    if file.exists() and not os.access(file, os.W_OK):
        raise LogError(f"DATABASE_URL {_shown(url)}: the file is read-only; mend its permissions, or name another")


def _configure_sqlite(engine: AsyncEngine) -> None:
    """Durable commits; writers queue up, since the driver takes the lock with the first write of a transaction."""

    @event.listens_for(engine.sync_engine, "connect")
    def on_connect(connection: Any, _record: object) -> None:
        connection.isolation_level = "IMMEDIATE"
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_S * 1000}")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA secure_delete = ON")  # zeros instead of what was deleted, or moved to another page
        cursor.close()


def _drop_silent_connections(engine: AsyncEngine) -> None:
    """A connection that gave no answer in time gives none later; new ones take the place of all."""

    @event.listens_for(engine.sync_engine, "handle_error")
    def on_error(context: ExceptionContext) -> None:
        if isinstance(context.original_exception, TimeoutError):
            context.is_disconnect = True


def migrations(connection: Connection) -> Config:
    """What Alembic's commands need to work over an open connection."""
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    return config


async def _install_queue(connection: AsyncConnection) -> None:
    """Installs pgqueuer's tables, or brings them up to date; one replica at a time.

    Not in a transaction of ours: some of its upgrades cannot share one.
    """
    queue = await database_queue(connection)
    await queue.driver.execute("SELECT pg_advisory_lock($1)", MIGRATION_LOCK)
    try:
        if await queue.schema_is_installed():
            await queue.upgrade()
        else:
            await queue.install()
    finally:
        await queue.driver.execute("SELECT pg_advisory_unlock($1)", MIGRATION_LOCK)


def _migrate(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        # Replicas start at the same time, and only one of them may migrate.
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
    else:
        # The driver begins no transaction for DDL by itself:
        # https://docs.sqlalchemy.org/en/21/dialects/sqlite.html#sqlite-transactions
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    command.upgrade(migrations(connection), "head")
