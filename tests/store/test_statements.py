"""A statement is made once, and again only for what cannot be a parameter."""

from dataclasses import dataclass
from typing import Any

import pytest
import sqlalchemy as sa

from bot.store import Store
from bot.store.database import StoreQueries
from bot.store.statements import made_once


@dataclass(frozen=True)
class Pair:
    first: int | None
    second: int


@pytest.mark.on("sqlite", "postgres")
async def test_a_statement_is_made_once_for_all_values(log: Store) -> None:
    class Sums(StoreQueries):
        made = 0

        @made_once(int)
        def sum_of(self, pairs: list[Pair], is_doubled: bool, among: frozenset[int]) -> sa.Select[Any]:
            self.made += 1
            found = sum(sa.cast(pair.second, sa.Integer) for pair in pairs if pair.first is not None)
            return sa.select(found * (1 + is_doubled)).where(sa.cast(pairs[0].second, sa.Integer).in_(among))

    sums = Sums(log.database)
    assert await sums.sum_of([Pair(0, 2), Pair(0, 3)], False, frozenset({1, 2})) == [5]
    assert await sums.sum_of([Pair(1, 4), Pair(1, 5)], False, frozenset({4, 6, 7})) == [9]
    assert sums.made == 1
    assert await sums.sum_of([Pair(1, 4), Pair(None, 5)], False, frozenset({4})) == [4]
    assert await sums.sum_of([Pair(1, 4), Pair(1, 5)], True, frozenset({4})) == [18]
    assert await sums.sum_of([Pair(1, 4)], True, frozenset()) == []
    assert sums.made == 4
