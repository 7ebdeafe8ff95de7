"""Waiting for another process that has the log to itself: said, and not done in silence."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.log.errors import LOG_ERRORS

MIGRATION_LOCK = 5_118_005  # any number that nobody else takes
_PATIENCE_S = 5.0
# Whoever has the lock; a number of up to 32 bits stands in `objid`:
# https://www.postgresql.org/docs/current/view-pg-locks.html
_HOLDER = text(
    "SELECT pid, application_name, client_addr::text FROM pg_locks JOIN pg_stat_activity USING (pid) "
    "WHERE locktype = 'advisory' AND granted AND classid = 0 AND objid = :lock AND objsubid = 1 "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)

logger = structlog.get_logger(__name__)


@asynccontextmanager
async def said_if_long(engine: AsyncEngine) -> AsyncIterator[None]:
    """Says in the app's log what is waited for, and what to do, where the body takes more than five seconds."""
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
            holder = (await connection.execute(_HOLDER, {"lock": MIGRATION_LOCK})).first()
    except LOG_ERRORS:
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
