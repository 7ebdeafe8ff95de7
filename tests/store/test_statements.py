"""How SQLite runs the statements of a case."""

import sqlite3
from collections import Counter
from typing import Any

import pytest

from bot.store import Store
from tests.cases import a_case, a_verdict


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
