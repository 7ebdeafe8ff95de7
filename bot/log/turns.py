"""What two processes must not do at once: in PostgreSQL they take turns; SQLite has one writer anyway."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

_TURN = text("SELECT pg_advisory_xact_lock(hashtextextended('slack-judge ' || :at, 0))")


async def take_turn(connection: AsyncConnection, at: str) -> None:
    """Waits until nobody else is at this; from then on others wait, until the transaction is over."""
    if connection.dialect.name == "postgresql":
        await connection.execute(_TURN, {"at": at})
