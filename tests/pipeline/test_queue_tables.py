"""The queue's tables beside ours: installed by several processes at once, small, shared."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

from sqlalchemy import text

from bot.pipeline.engine import PeriodicJob, Work
from bot.store import Store
from bot.store.jobs import trim_queue
from tests.cases import Teams, a_case
from tests.pipeline.test_engine import Settler, opened, running, until

OLD = (
    "INSERT INTO pgqueuer_log (created, job_id, status, priority, entrypoint) "
    "VALUES (now() - interval '{days} days', 1, 'queued', 0, 'x')",
    "INSERT INTO pgqueuer_statistics (created, count, priority, status, entrypoint) "
    "VALUES (now() - interval '{days} days', 1, 0, 'queued', 'x')",
)
DAYS = (
    "SELECT extract(day FROM now() - created) FROM pgqueuer_log "
    "UNION ALL SELECT extract(day FROM now() - created) FROM pgqueuer_statistics"
)


async def test_five_processes_that_start_at_once_share_the_work(new_postgres_url: str) -> None:
    logs = await asyncio.gather(*(Store.open(new_postgres_url) for _ in range(5)))
    for number in range(20):
        await logs[0].add(a_case(key=str(number)))
    settlers = [Settler(log) for log in logs]

    async def is_settled() -> bool:
        return sum(len(settler.done) for settler in settlers) == 20

    async with AsyncExitStack() as stack:
        for log, settler in zip(logs, settlers, strict=True):
            await stack.enter_async_context(running(log, settler))
        await until(is_settled)
    assert sorted(number for settler in settlers for number in settler.tried) == list(range(1, 21))
    assert await logs[0].database.all(text("SELECT id FROM pgqueuer")) == []
    await asyncio.gather(*(log.close() for log in logs))


async def test_the_queues_notes_are_forgotten_after_a_week(postgres_url: str) -> None:
    async with opened(postgres_url) as log:
        for statement in OLD:
            for days in (6, 8):
                await log.database.execute(text(statement.format(days=days)))
        await trim_queue(log.database)
        assert [int(days) for days in await log.database.values(text(DAYS))] == [6, 6]


async def test_a_queue_in_memory_forgets_what_is_done(tmp_path: Any) -> None:
    async with opened(f"sqlite+aiosqlite:///{tmp_path}/log.db") as log:
        settler = Settler(log)
        async with running(log, settler):
            await log.add(a_case())
            await settler.settled(1)
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
        await log.database.execute(
            text("UPDATE pgqueuer_schedules SET next_run = now() - interval '1 hour'")
        )
        calls.clear()
        served = Teams({team: work_of(team) for team in ("T1", "T2")})

        async def have_run() -> bool:
            return len(calls) >= 4

        async with running(log, Settler(log), served=served):
            await until(have_run)
    assert sorted(calls) == ["T1", "T1", "T2", "T2"]
