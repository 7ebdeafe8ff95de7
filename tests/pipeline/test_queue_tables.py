"""The queue's tables beside ours: installed by several processes at once, small, shared."""

import asyncio
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, text

from bot.pipeline.engine import Engine, PeriodicJob, Work
from bot.store import Store
from bot.store.jobs import JobKind, trim_queue
from bot.store.opening import connect
from tests.cases import Teams, a_case
from tests.patience import ONLY_A_HANG_S
from tests.pipeline.test_engine import TEAM, Settler, opened, running

OLD_NOTE = (
    "INSERT INTO pgqueuer_log (created, job_id, status, priority, entrypoint) "
    "VALUES (now() - :age, 1, 'queued', 0, 'x')"
)
OLD_SUM = (
    "INSERT INTO pgqueuer_statistics (created, count, priority, status, entrypoint) "
    "VALUES (now() - :age, 1, 0, 'queued', 'x')"
)


async def rows(database_url: str, query: str) -> Sequence[Row[Any]]:
    engine = connect(database_url)
    async with engine.connect() as connection:
        found = (await connection.execute(text(query))).all()
    await engine.dispose()
    return found


async def change(database_url: str, statement: str) -> None:
    engine = connect(database_url)
    async with engine.begin() as connection:
        await connection.execute(text(statement))
    await engine.dispose()


async def test_five_processes_that_start_at_once_share_the_work(new_postgres_url: str) -> None:
    logs = await asyncio.gather(*(Store.open(new_postgres_url) for _ in range(5)))
    for number in range(20):
        await logs[0].add(a_case(key=str(number)))
    settlers = [Settler(log) for log in logs]
    engines = [
        Engine(log, Teams({TEAM: Work({JobKind.SETTLE: settler})}), 4)
        for log, settler in zip(logs, settlers, strict=True)
    ]
    tasks = [asyncio.create_task(engine.run_forever()) for engine in engines]
    async with asyncio.timeout(ONLY_A_HANG_S):
        while sum(len(settler.done) for settler in settlers) < 20:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await asyncio.gather(
        *(engine.stop(task, 5) for engine, task in zip(engines, tasks, strict=True))
    )
    assert sorted(number for settler in settlers for number in settler.tried) == list(range(1, 21))
    assert await rows(new_postgres_url, "SELECT id FROM pgqueuer") == []
    await asyncio.gather(*(log.close() for log in logs))


async def test_the_queues_notes_are_forgotten_after_a_week(postgres_url: str) -> None:
    async with opened(postgres_url) as log:
        for statement in (OLD_NOTE, OLD_SUM):
            for days in (6, 8):
                await change(postgres_url, statement.replace(":age", f"interval '{days} days'"))
        query = " UNION ALL ".join(
            (f"SELECT '{table}' AS of, extract(day FROM now() - created) AS days FROM {table}")  # noqa: S608
            for table in ("pgqueuer_log", "pgqueuer_statistics")
        )
        await trim_queue(log.database)
    assert {(row.of, int(row.days)) for row in await rows(postgres_url, query)} == {
        ("pgqueuer_log", 6),
        ("pgqueuer_statistics", 6),
    }


async def test_a_queue_in_memory_forgets_what_is_done(tmp_path: Any) -> None:
    async with opened(f"sqlite+aiosqlite:///{tmp_path}/log.db") as log:
        settler = Settler(log)
        async with running(log, settler):
            for number in range(20):
                await log.add(a_case(key=str(number)))
            await settler.settled(20)
            memory = log.database.queue
            await trim_queue(log.database)
            assert await memory.queue_log() == []


async def test_periodic_jobs_run_in_each_workspace_by_the_start_and_by_the_schedule(
    postgres_url: str,
) -> None:
    calls: list[str] = []

    def work_of(team: str) -> Work:
        async def note() -> None:
            calls.append(team)

        return Work({}, [PeriodicJob("look", note)])

    async with opened(postgres_url) as log:
        async with running(log, Settler(log), served=Teams({"T1": work_of("T1")})):
            pass
        await change(
            postgres_url, "UPDATE pgqueuer_schedules SET next_run = now() - interval '1 hour'"
        )
        calls.clear()
        served = Teams({team: work_of(team) for team in ("T1", "T2")})
        async with running(log, Settler(log), served=served), asyncio.timeout(ONLY_A_HANG_S):
            while len(calls) < 4:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    assert sorted(calls) == ["T1", "T1", "T2", "T2"]
