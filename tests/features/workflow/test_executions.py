"""What the store knows of steps of workflows, on both databases."""

from functools import partial
from pathlib import Path

from pgqueuer.adapters.inmemory import InMemoryDriver, InMemoryQueries

from bot.features.workflow.queries import Execution, Executions
from bot.store import Store
from tests.cases import a_case, a_verdict, held, url

FIRST, SECOND = Execution("Fx1", quotes=True), Execution("Fx2", quotes=False)


async def test_an_execution_is_written_with_its_case(log: Store) -> None:
    case, _ = await log.add(a_case(), also=partial(Executions(log.database).add, execution=FIRST))
    assert await Executions(log.database).waiting(case.id) == [FIRST]
    assert await Executions(log.database).is_known(case.team_id, "Fx1")
    assert not await Executions(log.database).is_known("T2", "Fx1")
    assert not await Executions(log.database).is_known(case.team_id, "Fx2")


async def test_another_execution_joins_a_case_and_once(log: Store) -> None:
    case, _ = await log.add(a_case(), also=partial(Executions(log.database).add, execution=FIRST))
    for _ in range(2):
        await Executions(log.database).attach(SECOND, case)
    assert sorted(await Executions(log.database).waiting(case.id), key=lambda each: each.id) == [
        FIRST,
        SECOND,
    ]
    await Executions(log.database).note_completed(case.id, "Fx1")
    assert await Executions(log.database).waiting(case.id) == [SECOND]
    assert await Executions(log.database).is_known(case.team_id, "Fx1")


async def test_a_job_is_missing_where_a_step_waits_for_a_case_that_is_settled_or_gone(
    tmp_path: Path,
) -> None:
    log = await Store.open(url(tmp_path))
    log.database.queue = InMemoryQueries(InMemoryDriver())

    async def missing() -> int:
        await log.database.queue.clear_queue()
        await Executions(log.database).resubmit("T1")
        return sum(each.count for each in await log.database.queue.queue_size())

    case, _ = await log.add(a_case(), also=partial(Executions(log.database).add, execution=FIRST))
    assert await missing() == 0  # whoever settles it tells the step
    await log.note_delivered(await log.record(await held(log, case.id), a_verdict()))
    assert await missing() == 1
    assert await log.forgetting.forget([case.id], "U1") == [case.id]
    assert await missing() == 1
    await Executions(log.database).note_completed(case.id, "Fx1")
    assert await missing() == 0
    await log.close()
