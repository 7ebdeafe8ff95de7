"""Which cases a link means."""

from pathlib import Path
from typing import Any

from sqlalchemy import event

from bot.features.privacy.queries import cases_at
from bot.store import Store
from tests.cases import url
from tests.store.test_edits import HERE, OF_TWO, delivered


async def test_a_reply_is_known_by_each_of_its_messages(log: Store) -> None:
    case = await delivered(log, **OF_TWO | {"parent_ts": None})
    for ts in ("5.1", "5.2"):
        assert [each.id for each in await cases_at(log.database, *HERE, ts, None)] == [case.id]


async def test_no_look_up_goes_through_all_cases(tmp_path: Path) -> None:
    async with await Store.open(url(tmp_path)) as log, log.database.engine.connect() as connection:
        asked: list[tuple[str, Any]] = []
        listened = log.database.engine.sync_engine, "before_cursor_execute"
        event.listen(*listened, lambda *call: asked.append((call[2], call[3])))
        await cases_at(log.database, *HERE, "5.1", "4.1")
        for statement, values in [*asked]:
            plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
            assert not [row[3] for row in plan.all() if row[3].startswith("SCAN cases")]
