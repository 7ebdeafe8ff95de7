"""Upgrades of a filled database, from the first schema and from the last two before today's.

The first lies in tests/data/upgrades, as SQL. It was filled by `tests.filled.fill` with two rows of
T1 and two of T2 in each table; the last two are made from it, and get two rows of T3 in each.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import sqlalchemy as sa
from alembic import command

from bot.store import Store
from bot.store.opening import HEAD, connect, migrations
from bot.store.schema import alembic_version, processes
from bot.store.tables import metadata
from tests.filled import fill

UPGRADES = Path(__file__).parents[1] / "data/upgrades"


@pytest.fixture
def log_of_today(new_database_url: str, request: pytest.FixtureRequest) -> str:
    """A database of the same kind that was made by this version."""
    if new_database_url.startswith("sqlite"):
        return f"sqlite+aiosqlite:///{request.getfixturevalue('empty_log')}"
    return str(request.getfixturevalue("log_on_postgres"))


async def restore(url: str) -> None:
    """Makes the database as the version with the first schema left it."""
    kind = "sqlite" if url.startswith("sqlite") else "postgres"
    script = (UPGRADES / f"{FIRST}.{kind}.sql").read_text(encoding="utf-8")
    if kind == "sqlite":
        with closing(sqlite3.connect(url.partition(":///")[2])) as connection:
            connection.executescript(script)
        return
    server = await asyncpg.connect(url.replace("+asyncpg", ""))
    await server.execute(script)
    await server.close()


async def bring_to(url: str, revision: str) -> None:
    """Brings the first schema to a later one, which is then filled, too."""
    engine = connect(url)
    async with engine.connect() as connection:
        if url.startswith("sqlite"):  # as when the app migrates a file
            await connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
            await connection.exec_driver_sql("BEGIN IMMEDIATE")
        await connection.run_sync(lambda opened: command.upgrade(migrations(opened), revision))
        await connection.commit()
        found = sa.MetaData()
        await connection.run_sync(found.reflect)
    left_out = {alembic_version.name, processes.name}
    tables = [table for table in found.sorted_tables if table.name not in left_out]
    await fill(engine, "T3", 21, tables=tables)
    await engine.dispose()


async def shape(url: str) -> dict[str, Any]:
    """What the database says of each table, in an order of its own."""
    engine = connect(url)
    async with engine.connect() as connection:
        tables = await connection.run_sync(_shape)
    await engine.dispose()
    return tables


def _shape(connection: sa.Connection) -> dict[str, Any]:
    inspector = sa.inspect(connection)
    return {
        table: {
            "columns": sorted(map(repr, map(_column, inspector.get_columns(table)))),
            "key": inspector.get_pk_constraint(table),
            "foreign keys": _sorted(inspector.get_foreign_keys(table)),
            "unique": _sorted(inspector.get_unique_constraints(table)),
            "checks": _sorted(inspector.get_check_constraints(table)),
            "indexes": _sorted(map(_index, inspector.get_indexes(table))),
        }
        for table in inspector.get_table_names()
    }


def _column(column: Any) -> tuple[str, ...]:
    return column["name"], str(column["type"]), str(column["nullable"]), str(column["default"])


def _index(index: Any) -> dict[str, Any]:
    condition = {name: str(value) for name, value in index["dialect_options"].items()}
    return dict(index, dialect_options=condition)


def _sorted(found: Any) -> list[str]:
    return sorted(map(repr, found))


async def rows(url: str, columns: dict[str, list[str]]) -> dict[str, list[str]]:
    """The rows of these tables, with these of their columns."""
    engine = connect(url)
    found = {}
    async with engine.connect() as connection:
        for table, names in columns.items():
            selected = sa.select(*map(sa.column, names)).select_from(sa.table(table))
            found[table] = _sorted(map(tuple, await connection.execute(selected)))
    await engine.dispose()
    return found


FIRST = "0001"
LAST_TWO = [f"{int(HEAD) - back:04}" for back in (2, 1)]


@pytest.mark.parametrize("revision", [FIRST, *LAST_TWO])
async def test_an_upgraded_database_keeps_its_rows_and_is_like_a_new_one(
    new_database_url: str, log_of_today: str, revision: str
) -> None:
    await restore(new_database_url)
    if revision != FIRST:
        await bring_to(new_database_url, revision)
    before = await shape(new_database_url)
    kept = {
        name: [column.name for column in table.c if f"('{column.name}'" in str(before[name])]
        for name, table in metadata.tables.items()
        if name in before and table is not alembic_version
    }
    stored = await rows(new_database_url, kept)
    assert len(stored["cases"]) == len(stored["turns"]) == (4 if revision == FIRST else 6)

    await (await Store.open(new_database_url)).close()

    assert await rows(new_database_url, {"alembic_version": ["version_num"]}) == {
        "alembic_version": [repr((HEAD,))]
    }
    assert await rows(new_database_url, kept) == stored
    assert await shape(new_database_url) == await shape(log_of_today)
