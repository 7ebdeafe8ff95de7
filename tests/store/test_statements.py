"""A statement is made once, and again only for what cannot be a parameter."""

import sqlite3
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
import sqlalchemy as sa

from bot.store import Store
from bot.store.database import StoreQueries
from bot.store.statements import made_once
from tests.cases import a_case, a_verdict


@dataclass(frozen=True)
class Pair:
    first: int | None
    second: int


@pytest.mark.on("sqlite", "postgres")
async def test_a_statement_is_made_once_for_all_values(log: Store) -> None:
    class Sums(StoreQueries):
        made = 0

        @made_once(int)
        def sum_of(
            self, pairs: list[Pair], is_doubled: bool, among: frozenset[int]
        ) -> sa.Select[Any]:
            self.made += 1
            found = sum(
                sa.cast(pair.second, sa.Integer) for pair in pairs if pair.first is not None
            )
            return sa.select(found * (1 + is_doubled)).where(
                sa.cast(pairs[0].second, sa.Integer).in_(among)
            )

    sums = Sums(log.database)
    assert await sums.sum_of([Pair(0, 2), Pair(0, 3)], False, frozenset({1, 2})) == [5]
    assert await sums.sum_of([Pair(1, 4), Pair(1, 5)], False, frozenset({4, 6, 7})) == [9]
    assert sums.made == 1
    assert await sums.sum_of([Pair(1, 4), Pair(None, 5)], False, frozenset({4})) == [4]
    assert await sums.sum_of([Pair(1, 4), Pair(1, 5)], True, frozenset({4})) == [18]
    assert await sums.sum_of([Pair(1, 4)], True, frozenset()) == []
    assert sums.made == 4


@pytest.mark.on("sqlite")
async def test_sqlite_prepares_each_statement_of_a_case_once(log: Store) -> None:
    read: Counter[int] = Counter()

    def note(action: int, *_: object) -> int:  # called while a statement is prepared
        read[action] += 1
        return sqlite3.SQLITE_OK

    async with log.database.engine.connect() as connection:  # the one that is used next
        driver: Any = (await connection.get_raw_connection()).driver_connection
        driver._conn.set_authorizer(note)
    columns = []
    for ts in ("1.000001", "1.000002", "1.000003"):
        assert await log.cases.latest("T1", "C1", ts, "U1") is None
        added, _ = await log.add(a_case(key=ts, message_ts=ts))
        case = await log.claim(added.id)
        assert case is not None
        judged = await log.record(await log.intend(case), a_verdict())
        await log.note_delivered(judged)
        columns.append(read[sqlite3.SQLITE_READ])
    assert columns[0] > 0
    assert columns == [columns[0]] * 3
