"""What the tables are made of: kinds of columns, indexes with a condition, and what every table
has.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import JSON, Integer, String
from sqlalchemy.sql.schema import SchemaItem
from sqlalchemy.util import OrderedSet

Condition = sa.ColumnElement[bool]

metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


class UtcDateTime(sa.TypeDecorator[datetime]):
    """An aware UTC time; SQLite has no time zones, so there the zone is dropped and put back."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        return value and (value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC))


class Ids(sa.TypeDecorator[tuple[str, ...]]):
    """Slack's ids, separated by commas; NULL if there are none."""

    impl = sa.String
    cache_ok = True

    def process_bind_param(self, value: tuple[str, ...] | None, dialect: sa.Dialect) -> str | None:
        return ",".join(value or ()) or None

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> tuple[str, ...]:
        return tuple(value.split(",")) if value else ()


class CleanText(sa.TypeDecorator[str]):
    """Text of any origin; what a database rejects (NUL on PostgreSQL, half a surrogate pair)
    becomes U+FFFD.
    """

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        return (
            None
            if value is None
            else value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
        )


def _columns(
    strings: Iterable[str], kinds: dict[str, Any], **options: Any
) -> Iterator[sa.Column[Any]]:
    return (
        sa.Column(name, kind, **options)
        for name, kind in (dict.fromkeys(strings, String) | kinds).items()
    )


def key_columns(*strings: str, **kinds: Any) -> Iterator[sa.Column[Any]]:
    """The columns of the primary key; like those of the next two, they are strings if no kind is
    named.
    """
    return _columns(strings, kinds, primary_key=True)


def needed(*strings: str, default: Any = None, **kinds: Any) -> Iterator[sa.Column[Any]]:
    return _columns(strings, kinds, nullable=False, server_default=default)


def optional(*strings: str, **kinds: Any) -> Iterator[sa.Column[Any]]:
    return _columns(strings, kinds)


def of_case() -> sa.ForeignKeyConstraint:
    case = ["cases.team_id", "cases.id"]
    return sa.ForeignKeyConstraint(
        ["team_id", "case_id"], case, ondelete="CASCADE", onupdate="CASCADE"
    )


def index(
    *columns: str,
    name: str | None = None,
    where: sa.TextClause | None = None,
    unique: bool = False,
) -> sa.Index:
    """An index; a query uses one with a condition only if it states that in the same words."""
    return sa.Index(name, *columns, unique=unique, info={"where": where})


def index_of_known(*columns: str) -> sa.Index:
    """An index of the rows in which the last of these columns is not NULL."""
    return index(*columns, where=sa.text(f"{columns[-1]} IS NOT NULL"))


@sa.event.listens_for(metadata, "before_create")
def _add_conditions(_metadata: object, connection: sa.Connection, **_options: object) -> None:
    # Not `postgresql_where=` above: with it, SQLAlchemy imports that dialect also for SQLite (5
    # MiB).
    for index in (each for table in metadata.tables.values() for each in table.indexes):
        index.dialect_options[connection.dialect.name]["where"] = index.info.get("where")


def new_table(name: str, *items: SchemaItem, **options: Any) -> sa.Table:
    table = sa.Table(name, metadata, *items, **options)
    # SQLite decides between equally good indexes by the order in which they were made, and a set
    # has none. In this one it reads a channel's weeks from the indexes for figures
    # (tests/features/home/test_home.py).
    table.indexes = OrderedSet(
        sorted(table.indexes, key=lambda index: str(index.name), reverse=True)
    )
    return table


def numbered(name: str, *items: SchemaItem) -> sa.Table:
    """A table whose rows are counted; a number is never given again."""
    number = sa.Column("id", Integer, primary_key=True, autoincrement=True)
    return new_table(name, number, *items, sqlite_autoincrement=True)


OPTIONAL_JSON = JSON(none_as_null=True)
