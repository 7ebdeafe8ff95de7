"""The docket's own loop and end, where the order of events decides."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.docket.delivery import Delivery
from bot.docket.lookup import Lookup
from bot.docket.settle import BEAT_S, Docket
from bot.domain.case import LoggedCase
from bot.log import Log
from bot.slack.client import web_client
from bot.slack.manifest import load_manifest
from bot.slack.teller import Teller
from judge import Judge
from judge.model import make_client
from sandbox import Limits, Sandbox, Workspace
from tests.model_server import Failure, ModelServer, Stall
from tests.scenario.test_docket import the_case

BUSY = Failure(429, headers={"retry-after": "300"})


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with Sandbox(Workspace(load_manifest(), limits=Limits.off())) as opened:
        yield opened


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[Log]:
    opened = await Log.open(f"sqlite+aiosqlite:///{tmp_path}/log.db")
    await opened.presence.enter()
    yield opened
    await opened.close()


@pytest.fixture
async def case(slack: Sandbox, log: Log) -> LoggedCase:
    added, _ = await log.add(the_case(slack.workspace))
    return added


@pytest.fixture
async def docket(slack: Sandbox, log: Log, model_server: ModelServer) -> AsyncIterator[Docket]:
    """A docket that asks a busy model again at once, and once only."""
    async with (
        web_client(SecretStr(slack.bot_token), slack.api_url) as client,
        make_client("test", model_server.base_url) as model,
        Judge(model="m", samples=1, client=model) as judge,
    ):
        lookup, delivery = Lookup(client, frozenset()), Delivery(client, Teller(client), log)
        opened = Docket(
            log, slack.workspace.team_id, {"additive-5": judge}, lookup, delivery, 1, model_pauses=[timedelta()]
        )
        yield opened
        await opened.stop(grace_s=0)


async def test_no_case_goes_on_where_nobody_waits_for_the_end(
    docket: Docket, case: LoggedCase, model_server: ModelServer
) -> None:
    model_server.script(Stall())
    running = docket.start(case.id)
    await model_server.asked(1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await docket.stop(grace_s=60)
    assert running.cancelled()


async def beat_twice(docket: Docket, within_the_first: Awaitable[object]) -> None:
    """Returns with the second beat; waits for it in vain where nothing wakes the docket before its time."""
    is_first, again = True, asyncio.Event()

    async def is_connected() -> bool:
        nonlocal is_first
        if is_first:
            is_first = False
            await within_the_first
        else:
            again.set()
        return True

    async with asyncio.timeout(BEAT_S):
        beating = asyncio.create_task(docket.beat_forever(is_connected))
        try:
            await again.wait()
        finally:
            beating.cancel()
            await asyncio.wait([beating])


async def test_a_case_that_falls_due_during_a_beat_does_not_wait_for_the_next(
    docket: Docket, case: LoggedCase, model_server: ModelServer
) -> None:
    model_server.script(BUSY)
    await beat_twice(docket, docket.start(case.id))


async def test_a_case_is_taken_up_in_time_though_its_delay_could_not_be_said(
    docket: Docket, case: LoggedCase, model_server: ModelServer, slack: Sandbox
) -> None:
    model_server.script(BUSY)
    slack.fail("chat.update", status=500)
    await beat_twice(docket, asyncio.wait([docket.start(case.id)]))
