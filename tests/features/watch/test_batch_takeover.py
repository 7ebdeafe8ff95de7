"""A worker that another one replaced while it sent a batch, and that continues later."""

import asyncio
from datetime import UTC, datetime

from bot.store.batches import EVERY
from tests.batch_server import BatchServer
from tests.features.watch.test_watch_by_batch import ask, model_server, stage, work
from tests.stage import Stage

__all__ = ["model_server", "stage"]


async def test_of_two_workers_that_upload_a_batch_one_has_it_begun(stage: Stage, model_server: BatchServer) -> None:
    await ask(stage, 2)
    model_server.gate = asyncio.Event()
    one = asyncio.create_task(work(stage, 1))
    await model_server.held()
    other = asyncio.create_task(work(stage, 1))
    await model_server.held()
    model_server.gate.set()
    await asyncio.gather(one, other)
    assert (len(model_server.sizes), len(model_server.batches), len(model_server.requests)) == (2, 1, 2)


async def test_requests_that_another_worker_has_put_into_a_batch_stay_there(
    stage: Stage, model_server: BatchServer
) -> None:
    await ask(stage, 2)
    log, team_id = stage.log.batches, stage.slack.workspace.team_id
    due = [request for request, _ in await log.due(team_id, datetime.now(UTC) + EVERY)]
    await log.begin(team_id, due)
    found = await log.open(team_id)
    await log.begin(team_id, due)
    assert await log.open(team_id) == found
