"""Writing a row that may be there already, in one statement."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert

from bot.log.database import Database


def upsert(
    database: Database,
    table: Table,
    values: Mapping[str, Any],
    keep: tuple[str, ...] = (),
    where: ColumnElement[bool] | None = None,
) -> Insert:
    """Inserts a row, or updates the one with the same primary key, if `where` holds for it.

    The columns in `keep` stay as they were.
    """
    statement = insert_into(database, table).values(**values)
    keys = [column.name for column in table.primary_key]
    changes = {name: value for name, value in values.items() if name not in (*keys, *keep)}
    return statement.on_conflict_do_update(index_elements=keys, set_=changes, where=where)


def insert_new(database: Database, table: Table, values: Mapping[str, Any]) -> Insert:
    """Inserts a row, unless there is one with the same primary key."""
    return insert_into(database, table).values(**values).on_conflict_do_nothing()


def insert_into(database: Database, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An insert in the words of the database, which knows conflicts."""
    return sqlite.insert(table) if database.is_sqlite else postgresql.insert(table)
