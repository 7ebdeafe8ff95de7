"""Opening the database: writable, migrated, WAL, durable commits; clear errors where it is not."""

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection, event, inspect
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from bot.domain.clock import Clock, utc_now
from bot.errors import LogError
from bot.log import sqlite
from bot.log.address import Address, to_address
from bot.log.clocks import note_clock
from bot.log.errors import LOG_ERRORS, reason_of
from bot.log.jobs import database_queue
from bot.log.private import make_file, make_folder
from bot.log.schema import cases
from bot.log.waiting import MIGRATION_LOCK, said_if_long

_MIGRATIONS = Path(__file__).parent / "migrations"
_BUSY_TIMEOUT_S = 10
# asyncpg waits for ever otherwise: a server that is frozen, or a network that swallows packets, would stop everything.
QUERY_TIMEOUT_S = 10
_CONNECTIONS = 10  # kept open; what exceeds a pool's size would be opened and closed for each transaction
_PROBE_BYTES = 1 << 20


async def open_engine(database_url: str, clock: Clock = utc_now) -> AsyncEngine:
    """An engine on the migrated database; a clock that is not the database's is said in the app's log.

    Raises:
        LogError: The URL is wrong, or the database cannot be written or migrated.
    """
    address = to_address(database_url)
    if address.is_sqlite:
        _check_writable(address)
    # A migration takes as long as it takes, and waits for that of another replica.
    engine = connect(database_url, query_timeout_s=None)
    try:
        await (_migrate_file(engine) if address.is_sqlite else _migrate_server(engine))
        if not address.is_sqlite:
            await note_clock(engine, clock)
    except _opening_errors(address) as exc:
        await engine.dispose()
        raise LogError(f"DATABASE_URL {address.shown}: cannot be opened and migrated: {reason_of(exc)}") from exc
    if address.is_sqlite:
        return engine
    await engine.dispose()
    return connect(database_url)


async def require_log(database_url: str) -> None:
    """Nothing, where a bot has been at work in the database; it is read alone, and nothing is made.

    Raises:
        LogError: There is no log, the URL is wrong, or the database is out of reach.
    """
    address = to_address(database_url)
    try:
        has_log = _has_log(address) if address.is_sqlite else await _has_log_on_server(database_url)
    except (*LOG_ERRORS, sqlite3.Error) as exc:
        raise LogError(f"DATABASE_URL {address.shown}: the log is out of reach: {reason_of(exc)}") from exc
    if not has_log:
        raise LogError(
            f"DATABASE_URL {address.shown}: there is no log; name the database of your bot, "
            "or begin one with judge-bot serve"
        )


def _has_log(address: Address) -> bool:
    file = Path(address.url.database or "").absolute()
    if not file.exists():
        return False
    # Opened as the bot opens it, somebody else's file would become one in WAL mode.
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
        found = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (cases.name,))
        return found.fetchone() is not None


async def _has_log_on_server(database_url: str) -> bool:
    engine = connect(database_url)
    try:
        async with engine.connect() as connection:
            return await connection.run_sync(lambda opened: inspect(opened).has_table(cases.name))
    finally:
        await engine.dispose()


def connect(database_url: str, query_timeout_s: float | None = QUERY_TIMEOUT_S) -> AsyncEngine:
    """An engine on a database as it is.

    Args:
        database_url: Where the database is.
        query_timeout_s: How long PostgreSQL may take for one query; None is for ever.

    Raises:
        LogError: The URL is wrong.
    """
    address = to_address(database_url)
    arguments = address.arguments | {"command_timeout": query_timeout_s}
    if address.is_sqlite:
        arguments = {"async_creator_fn": sqlite.connect}
    try:
        # An error that shows its parameters would put the judged texts into the log file.
        engine = create_async_engine(
            address.url, hide_parameters=True, pool_size=_CONNECTIONS, max_overflow=0, connect_args=arguments
        )
    except ModuleNotFoundError as exc:
        raise LogError("DATABASE_URL: PostgreSQL needs the package asyncpg; pip install asyncpg") from exc
    if address.is_sqlite:
        _configure_sqlite(engine)
    else:
        _drop_silent_connections(engine)
    return engine


def _opening_errors(address: Address) -> tuple[type[Exception], ...]:
    errors = (DBAPIError, CommandError, OSError, ValueError)
    if address.is_sqlite:
        return errors
    from asyncpg import PostgresError  # type: ignore[import-untyped] # there with PostgreSQL alone

    return *errors, PostgresError  # the queue has its statements done by the driver, without SQLAlchemy


def _check_writable(address: Address) -> None:
    """A read-only folder and a full disk are found at start, not at the first case."""
    file = Path(address.url.database or "")
    try:
        make_folder(file.parent)
        with tempfile.TemporaryFile(dir=file.parent) as probe:
            probe.write(b"\0" * _PROBE_BYTES)
            probe.flush()
            os.fsync(probe.fileno())
        make_file(file)
    except OSError as exc:
        raise LogError(
            f"DATABASE_URL {address.shown}: the folder cannot be written ({exc.strerror}); "
            "free some space, mend its permissions, or name another file"
        ) from exc
    if file.exists() and not os.access(file, os.W_OK):
        raise LogError(f"DATABASE_URL {address.shown}: the file is read-only; mend its permissions, or name another")


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


async def _migrate_server(engine: AsyncEngine) -> None:
    """Migrates our tables, and installs pgqueuer's or brings them up to date; one replica at a time."""
    async with engine.connect() as connection:
        queue = await database_queue(connection)
        async with said_if_long(engine):
            # Of the session, and given back with its connection, since the queue's part has transactions of its own.
            await queue.driver.execute("SELECT pg_advisory_lock($1)", MIGRATION_LOCK)
        async with connection.begin():
            await connection.run_sync(_migrate)
        await (queue.upgrade() if await queue.schema_is_installed() else queue.install())


async def _migrate_file(engine: AsyncEngine) -> None:
    async with said_if_long(engine), engine.begin() as connection:
        # The driver begins no transaction for DDL by itself:
        # https://docs.sqlalchemy.org/en/21/dialects/sqlite.html#sqlite-transactions
        await connection.exec_driver_sql("BEGIN IMMEDIATE")
        await connection.run_sync(_migrate)


def _migrate(connection: Connection) -> None:
    config = migrations(connection)
    scripts = ScriptDirectory.from_config(config)
    found = MigrationContext.configure(connection).get_current_heads()
    if found == tuple(scripts.get_heads()):
        return
    if newer := set(found) - {script.revision for script in scripts.walk_revisions()}:
        raise CommandError(
            f"a newer version of this app has been at work in it (migration {', '.join(sorted(newer))}); "
            "install that version again, or restore the backup from before"
        )
    command.upgrade(config, "head")
