"""What the store knows of steps of workflows, on both databases."""

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from pgqueuer.adapters.inmemory import InMemoryDriver, InMemoryQueries
from sqlalchemy import update

from bot.features.workflow.queries import Execution, Executions
from bot.store import Store
from bot.store.schema import executions
from tests.cases import a_case, a_verdict, held, url

FIRST, SECOND = Execution("Fx1", quotes=True), Execution("Fx2", quotes=False)


async def test_an_execution_is_written_with_its_case(log: Store) -> None:
    case, _ = await log.add(a_case(), also=partial(Executions.from_store(log).add, execution=FIRST))
    assert await Executions.from_store(log).waiting(case.id) == [FIRST]
    assert await Executions.from_store(log).is_known(case.team_id, "Fx1")
    assert not await Executions.from_store(log).is_known("T2", "Fx1")
    assert not await Executions.from_store(log).is_known(case.team_id, "Fx2")


async def test_another_execution_joins_a_case_and_once(log: Store) -> None:
    case, _ = await log.add(a_case(), also=partial(Executions.from_store(log).add, execution=FIRST))
    for _ in range(2):
        await Executions.from_store(log).attach(SECOND, case)
    assert sorted(await Executions.from_store(log).waiting(case.id), key=lambda each: each.id) == [FIRST, SECOND]
    await Executions.from_store(log).note_completed(case.id, "Fx1")
    assert await Executions.from_store(log).waiting(case.id) == [SECOND]
    assert await Executions.from_store(log).is_known(case.team_id, "Fx1")


async def test_what_was_told_is_forgotten_after_a_day_and_what_waits_never(log: Store) -> None:
    case, _ = await log.add(a_case(), also=partial(Executions.from_store(log).add, execution=FIRST))
    await Executions.from_store(log).attach(SECOND, case)
    await Executions.from_store(log).note_completed(case.id, "Fx1")
    await Executions.from_store(log).trim()
    assert await Executions.from_store(log).is_known(case.team_id, "Fx1")
    long_ago = datetime.now(UTC) - timedelta(days=2)
    told = executions.c.completed_at.is_not(None)
    await log.database.execute(update(executions).where(told).values(completed_at=long_ago))
    await Executions.from_store(log).trim()
    assert not await Executions.from_store(log).is_known(case.team_id, "Fx1")
    assert await Executions.from_store(log).is_known(case.team_id, "Fx2")


async def test_a_job_is_missing_where_a_step_waits_for_a_case_that_is_settled_or_gone(tmp_path: Path) -> None:
    log = await Store.open(url(tmp_path))
    log.jobs.memory = InMemoryQueries(InMemoryDriver())

    async def missing() -> int:
        await log.jobs.memory.clear_queue()
        await Executions.from_store(log).resubmit("T1")
        return sum(each.count for each in await log.jobs.memory.queue_size())

    case, _ = await log.add(a_case(), also=partial(Executions.from_store(log).add, execution=FIRST))
    assert await missing() == 0  # whoever settles it tells the step
    await log.note_delivered(await log.record(await held(log, case.id), a_verdict()))
    assert await missing() == 1
    assert await log.forgetting.forget([case.id], "U1") == [case.id]
    assert await missing() == 1
    await Executions.from_store(log).note_completed(case.id, "Fx1")
    assert await missing() == 0
    await log.close()
