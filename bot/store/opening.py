"""Opening the database: writable, migrated, WAL, durable commits; clear errors where it is not."""

import asyncio
import os
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog
from sqlalchemy import Connection, delete, event, false, insert, inspect, text, update
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from bot.domain.case import Case, CaseSource, CaseStatus, Visibility
from bot.domain.clock import Clock, utc_now
from bot.errors import LogError
from bot.store.address import Address, to_address
from bot.store.database import Database, connect_sqlite
from bot.store.errors import STORE_ERRORS, reason_of
from bot.store.jobs import database_queue
from bot.store.ownership import make_file, make_folder
from bot.store.schema import cases

if TYPE_CHECKING:
    from alembic.config import Config

_TOLERATED_S = 5.0

logger = structlog.get_logger(__name__)


async def note_clock(engine: AsyncEngine, clock: Clock = utc_now) -> None:
    """Says in the app's log how far this machine's clock is ahead, and what to do, where it is off by over 5 s."""
    async with engine.connect() as connection:
        before = clock()
        theirs = (await connection.execute(text("SELECT clock_timestamp()"))).scalar_one()
        ahead_s = (before + (clock() - before) / 2 - theirs).total_seconds()
    if abs(ahead_s) > _TOLERATED_S:
        logger.warning(
            "clock_is_off",
            ahead_s=round(ahead_s, 1),
            of="the database's clock",
            do="have NTP set the clocks of this machine and of the database; until then cases may be judged twice",
        )


MIGRATION_LOCK = 5_118_005  # any number that nobody else takes
_PATIENCE_S = 5.0
# Whoever has the lock; a number of up to 32 bits stands in `objid`:
# https://www.postgresql.org/docs/current/view-pg-locks.html
_LOCK_HOLDER = text(
    "SELECT pid, application_name, client_addr::text FROM pg_locks JOIN pg_stat_activity USING (pid) "
    "WHERE locktype = 'advisory' AND granted AND classid = 0 AND objid = :lock AND objsubid = 1 "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


@asynccontextmanager
async def said_if_long(engine: AsyncEngine) -> AsyncIterator[None]:
    saying = asyncio.create_task(_say(engine))
    try:
        yield
    finally:
        saying.cancel()
        await asyncio.wait([saying])


async def _say(engine: AsyncEngine) -> None:
    await asyncio.sleep(_PATIENCE_S)
    if engine.dialect.name == "sqlite":
        logger.warning("waiting_for_the_log", held_by="another program", do=f"end what writes to {engine.url.database}")
        return
    try:
        async with engine.connect() as connection:
            holder = (await connection.execute(_LOCK_HOLDER, {"lock": MIGRATION_LOCK})).first()
    except STORE_ERRORS:
        holder = None
    if holder is None:
        logger.warning("waiting_for_the_log", held_by="not known", do="see whether PostgreSQL answers")
        return
    name, place = holder.application_name or "no name", holder.client_addr or "a socket"
    logger.warning(
        "waiting_for_the_log",
        held_by=f"backend {holder.pid} ({name}, from {place})",
        do=f"let its migration end, or, where it hangs: SELECT pg_terminate_backend({holder.pid})",
    )


HEAD = "release_0001"
"""The newest of the migrations, named here so that an up-to-date database is opened without Alembic."""
_BEFORE_THE_RELEASE = {f"{number:04}" for number in range(1, 24)}
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
    except (*STORE_ERRORS, sqlite3.Error) as exc:
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
        arguments = {"async_creator_fn": connect_sqlite}
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
    errors = (DBAPIError, OSError, ValueError)
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


def migrations(connection: Connection) -> "Config":
    from alembic.config import Config

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
    """Brings our tables up to date; Alembic is imported only where there is something to do."""
    found = _revision(connection)
    if found == HEAD:
        return
    from alembic import command
    from alembic.script import ScriptDirectory

    config = migrations(connection)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found in _BEFORE_THE_RELEASE:
        raise ValueError(
            f"a version from before 0.1.0 has made it (migration {found}), and its tables are not carried over; "
            "name a new database in DATABASE_URL, or go on with the version that made it"
        )
    if found and found not in known:
        raise ValueError(
            f"a newer version of this app has been at work in it (migration {found}); "
            "install that version again, or restore the backup from before"
        )
    command.upgrade(config, "head")


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()


_ID = 0  # the database counts from 1; one that it gave would be used up, whether or not it is rolled back
_NAME = "slack_judge_trial"
# What migrations do, ours and the queue's.
_DEFINE: Sequence[str] = (
    f"CREATE TABLE {_NAME} (id INTEGER)",
    f"CREATE TYPE {_NAME}_kind AS ENUM ('one')",
    f"CREATE FUNCTION {_NAME}_step() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    f"CREATE TRIGGER {_NAME}_step AFTER INSERT ON {_NAME} EXECUTE FUNCTION {_NAME}_step()",
    "COMMENT ON TABLE cases IS NULL",  # only who owns a table may alter it; this takes the lightest lock that shows it
)
_CLOSED_SEQUENCES = text(
    "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
    "AND CASE WHEN relkind = 'S' THEN NOT has_sequence_privilege(oid, 'USAGE') END"  # in this order
)


class _UndoneError(Exception):
    """Ends a transaction that went well."""


async def try_out(database: Database, shown: str) -> None:
    """Nothing, where a case can be written and a later version could migrate the log.

    Args:
        database: The log, migrated.
        shown: What it is called in messages.

    Raises:
        LogError: It cannot.
    """
    hint = "" if database.is_sqlite else "; let the role own the log's tables, and GRANT it CREATE on their schema"
    for what, work in (("written", _write), ("migrated", _define)):
        try:
            await database.write(work)
        except _UndoneError:
            continue
        except STORE_ERRORS as exc:
            raise LogError(f"DATABASE_URL {shown}: cannot be {what}: {reason_of(exc)}{hint}") from exc


async def _write(connection: AsyncConnection) -> None:
    case = Case(
        key=_NAME,
        team_id=_NAME,
        channel_id=_NAME,
        requester_id=_NAME,
        requester_name=_NAME,
        source=CaseSource.TEXT,
        rubric=_NAME,
        visibility=Visibility.ME,
    )
    added = {"id": _ID, "status": CaseStatus.RECEIVED, "created_at": utc_now()}
    await connection.execute(insert(cases).values(case.model_dump() | added))
    await connection.execute(update(cases).where(cases.c.id == _ID).values(lease_owner=_NAME))
    await connection.execute(delete(cases).where(false()))  # the right alone: the row goes with the transaction
    if connection.dialect.name == "postgresql":
        await _write_job(connection)
    raise _UndoneError


async def _write_job(connection: AsyncConnection) -> None:
    """Asks for the same rights, without a row: even one that is rolled back would use up a number."""
    from pgqueuer.domain.settings import db_settings

    names = db_settings().qualified
    for table in (names.queue_table, names.queue_table_log):
        await connection.exec_driver_sql(f"INSERT INTO {table} SELECT * FROM {table} WHERE false")  # noqa: S608
        await connection.exec_driver_sql(f"DELETE FROM {table} WHERE false")  # noqa: S608
    await connection.exec_driver_sql(f"UPDATE {names.queue_table} SET status = status WHERE false")  # noqa: S608
    closed = (await connection.execute(_CLOSED_SEQUENCES)).scalars().all()
    if closed:
        raise PermissionError(f"permission denied for sequence {closed[0]}")


async def _define(connection: AsyncConnection) -> None:
    if connection.dialect.name == "postgresql":
        from pgqueuer.domain.settings import db_settings

        statements = (*_DEFINE, f"COMMENT ON TABLE {db_settings().qualified.queue_table} IS NULL")
    else:
        statements = ("BEGIN IMMEDIATE", _DEFINE[0])  # the driver begins no transaction for DDL by itself
    for statement in statements:
        await connection.exec_driver_sql(statement)
    raise _UndoneError
