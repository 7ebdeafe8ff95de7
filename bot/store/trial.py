"""A try whether the log can be written and migrated; all of it is undone, and leaves no number used."""

from collections.abc import Sequence

from sqlalchemy import delete, false, insert, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import Case, CaseSource, CaseStatus, Visibility
from bot.domain.clock import utc_now
from bot.errors import LogError
from bot.store.database import Database
from bot.store.errors import STORE_ERRORS, reason_of
from bot.store.schema import cases

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
    """A case from its beginning to its end, and its job."""
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
    await connection.execute(update(cases).where(cases.c.id == _ID).values(holder=_NAME))
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
