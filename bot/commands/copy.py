"""`judge-bot copy`: moves everything stored from one database to another, of the same kind or not."""

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial
from typing import Any

import sqlalchemy as sa
import typer
from sqlalchemy.dialects.postgresql import REGCLASS
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.clock import utc_now
from bot.errors import StoreError
from bot.store import Store
from bot.store.address import to_address
from bot.store.database import Database, insert_into
from bot.store.errors import STORE_ERRORS, reason_of
from bot.store.ownership import SILENT_S, owned
from bot.store.schema import alembic_version, processes
from bot.store.tables import metadata
from judge.scoring.numbers import number_of

_TABLES = [
    each for each in metadata.sorted_tables if each not in (alembic_version, processes)
]  # each has its own

# SQLite's own, of the last number of each table.
_COUNTERS = sa.table("sqlite_sequence", sa.column("name"), sa.column("seq"))


async def copy(from_url: str, to_url: str) -> None:
    """Copies all rows that the other database has not got yet, and compares the two; prints a line
    for each table.

    The queue's tables are left out: each start submits a job for everything that is unsettled.
    """
    option = "--from"
    try:
        async with AsyncExitStack() as stack:
            source = (await stack.enter_async_context(await Store.open_existing(from_url))).database
            stack.enter_context(owned(source))
            await _refuse_if_at_work(source, (here := to_address(from_url)).shown)
            option = "--to"  # opened last, so that a refusal of the other leaves no empty database
            there = to_address(to_url)
            if here == there or (here.file and here.file == there.file):
                raise StoreError(f"--to {there.shown}: is the database to copy; name another one")
            target = (await stack.enter_async_context(await Store.open(to_url))).database
            stack.enter_context(owned(target))
            await _refuse_if_at_work(target, there.shown)
            for table in _TABLES:
                await _refuse_others(source, target, table, there.shown)
            for table in _TABLES:
                await _copy(source, target, table)
            rows = sum([await _compare(source, target, table) for table in _TABLES])
            await _refuse_if_at_work(source, here.shown)
    except StoreError as exc:
        raise StoreError(str(exc).replace("DATABASE_URL", option, 1)) from exc
    except STORE_ERRORS as exc:
        raise StoreError(
            f"not copied to the end ({reason_of(exc)}); run the same command again"
        ) from exc
    done = f"{there.shown} has all {number_of(rows, 'row')} of {here.shown}"
    typer.echo(f"{done}; start the bot with the new DATABASE_URL alone")


async def _refuse_if_at_work(database: Database, name: str) -> None:
    is_alive = processes.c.seen_at > utc_now() - timedelta(seconds=SILENT_S)
    for row in await database.all(sa.select(processes).where(is_alive)):
        raise StoreError(
            f"{name}: process {row.pid} on {row.host} is at work; stop it (killed: wait "
            f"{SILENT_S:.0f} s)"
        )


def _pages(database: Database, table: sa.Table) -> AsyncIterator[Sequence[sa.Row[Any]]]:
    return database.pages(sa.select(table), *table.primary_key)


async def _refuse_others(source: Database, target: Database, table: sa.Table, name: str) -> None:
    keys = [*table.primary_key]
    async for page in _pages(target, table):
        found = sa.tuple_(*keys).in_([[row._mapping[key] for key in keys] for row in page])
        there = await source.all(sa.select(table).where(found))
        if {repr(tuple(row)) for row in page} - {repr(tuple(row)) for row in there}:
            raise StoreError(
                f"{name}: the table {table.name} has rows of its own; name an empty "
                "database with --to"
            )


async def _copy(source: Database, target: Database, table: sa.Table) -> None:
    async def put(rows: Sequence[sa.Row[Any]], connection: AsyncConnection) -> None:
        await connection.execute(
            insert_into(target, table).on_conflict_do_nothing(), [dict(r._mapping) for r in rows]
        )

    async for page in _pages(source, table):
        await target.write(partial(put, page))
    if table.autoincrement_column is not None:
        await _go_on_counting(source, target, table, table.autoincrement_column)


async def _go_on_counting(
    source: Database, target: Database, table: sa.Table, column: sa.Column[int]
) -> None:
    """Has the other database count on from the last number, whose row may be deleted."""
    counter = _COUNTERS.c.name == table.name
    sequence = sa.cast(sa.func.pg_get_serial_sequence(table.name, column.name), REGCLASS)
    counted = sa.select(sa.func.pg_sequence_last_value(sequence))
    if source.is_sqlite:
        counted = sa.select(_COUNTERS.c.seq).where(counter)
    numbers = [await source.value(query) for query in (counted, sa.select(sa.func.max(column)))]
    last = max(number or 0 for number in numbers)
    if not last:
        return
    if target.is_sqlite:
        await target.execute(sa.delete(_COUNTERS).where(counter))
        await target.execute(sa.insert(_COUNTERS).values(name=table.name, seq=last))
    else:
        await target.value(sa.select(sa.func.setval(sequence, last)))


async def _compare(source: Database, target: Database, table: sa.Table) -> int:
    """The number of a table's rows; raises StoreError if they are not the same in both."""
    number, digest = await _digest(source, table)
    if await _digest(target, table) != (number, digest):
        raise StoreError(
            f"the table {table.name} is not the same in both; was one of them in use? start again"
        )
    if number:
        typer.echo(
            f"{table.name}: {number_of(number, 'row')}, the same in both ({f'{digest:064x}'[:12]})"
        )
    return number


async def _digest(database: Database, table: sa.Table) -> tuple[int, int]:
    """The number of rows and a sum of their hashes, because the two databases order texts
    differently.

    As Python has them, true, 1.5, JSON and times are the same from both.
    """
    number = 0
    digest = 0
    async for page in _pages(database, table):
        number += len(page)
        digest += sum(
            int.from_bytes(hashlib.sha256(repr(tuple(row)).encode()).digest()) for row in page
        )
    return number, digest % 2**256
