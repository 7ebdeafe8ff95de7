"""Rows in every table of the store, made from the schema alone, so that a new table has some, too."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.store.schema import alembic_version, processes
from bot.store.tables import Ids, UtcDateTime, metadata

LAST = datetime(2026, 11, 19, 12, 0, 0, 654_321, tzinfo=UTC)
TABLES = [table for table in metadata.sorted_tables if table not in (alembic_version, processes)]


async def fill(
    engine: AsyncEngine,
    team_id: str,
    first: int,
    rows: int = 2,
    tables: Sequence[sa.Table] = TABLES,
) -> None:
    """Adds rows of a team to each table, in which every number is `first` or one of those after it."""
    async with engine.begin() as connection:
        for table in tables:
            numbers = range(first, first + rows)
            made = [
                {each.name: _value(each, number, team_id) for each in table.c} for number in numbers
            ]
            await connection.execute(sa.insert(table), made)


async def counts(engine: AsyncEngine, team_id: str) -> dict[str, int]:
    """How many rows a team has in each table."""
    found = {}
    async with engine.connect() as connection:
        for table in TABLES:
            if "team_id" in table.c:
                query = sa.select(sa.func.count()).select_from(table).filter_by(team_id=team_id)
                found[table.name] = await connection.scalar(query) or 0
    return found


def _value(column: sa.Column[Any], number: int, team_id: str) -> Any:
    given = {"team_id": team_id, "what": "purged", "unscored_reason": None, "status": "delivered"}
    given["question_ts"] = None  # a topic is a case's, or a message's
    if column.name in given:
        return given[column.name]
    for kind, value in (
        ((UtcDateTime, sa.DateTime), LAST - timedelta(hours=number)),
        (sa.Date, LAST.date() - timedelta(days=number)),
        (Ids, (f"U{number}", f"C{number}")),
        (sa.JSON, {"z": [number / 3, None, True], "a": {"ü": "„“ \U0001f600"}}),
        (sa.Boolean, number % 2 == 0),
        (sa.Integer, number),
        (sa.Float, number / 3),
    ):
        if isinstance(column.type, kind):
            return value
    return f"{column.name} of {team_id}: „{number}“ 'a'\n\U0001f600"
