"""Watched replies at the tier "flex", whose answers take minutes: neither people nor the end of the
app wait.
"""

import asyncio

import pytest

from bot.domain.case import CaseStatus
from bot.slack import ids
from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from tests.features.watch.watching import say, seen, take_finished
from tests.model_server import Held, Stall
from tests.patience import ONLY_A_HANG_S
from tests.stage import CHANNEL, GOOD, Stage, StageFactory

WATCHED = 5


@pytest.fixture
async def stage(open_stage: StageFactory, database_url: str) -> Stage:
    flex = {
        "watch_by": "events",
        "watch_tier": "flex",
        "judge_concurrency": 1,
        "database_url": database_url,
    }
    opened: Stage = await open_stage(
        manifest=load_manifest(parts=[MESSAGE_EVENTS]), grace_s=10 * ONLY_A_HANG_S, **flex
    )
    await say(opened, "@helper all alert off")
    return opened


async def ask_for_watched(stage: Stage) -> None:
    """Returns once a request for one of some watched replies has arrived."""
    for number in range(WATCHED):
        stage.ask_and_answer(answer=f"Answer {number}.")
    await seen(stage, WATCHED)
    await take_finished(stage)
    await stage.model.asked(1)


async def test_a_persons_case_passes_watched_ones_that_wait(stage: Stage) -> None:
    stage.model.script(
        lambda request: Held(asyncio.Event(), GOOD) if "service_tier" in request else GOOD
    )
    await ask_for_watched(stage)
    stage.ann.command(CHANNEL, ids.COMMAND, "What is this? | A test.")
    await stage.reaches(WATCHED + 1, CaseStatus.DELIVERED)
    assert [request.get("service_tier") for request in stage.model.requests] == ["flex", None]


async def test_the_app_stops_at_once_while_a_watched_case_waits(stage: Stage) -> None:
    stage.model.script(Stall())
    await ask_for_watched(stage)
    assert stage.stop_bot
    async with asyncio.timeout(ONLY_A_HANG_S):
        await stage.stop_bot()
