"""Looks at watched channels: what was written while Slack could not be read is found, and the
trouble is said.
"""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.schema import DropTable

from bot.domain.watch import ReplyOutcome
from bot.features.watch.looks import OFTEN
from bot.store.errors import STORE_ERRORS
from bot.store.schema import replies
from tests.features.watch.watching import (
    alarm,
    look,
    orders,
    outcomes,
    say,
    take_finished,
    told,
    watch_elsewhere,
)
from tests.gestures import stats
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, StageFactory, shown

HISTORY = "conversations.history"
HOUR = timedelta(hours=1)
TWO_HOURS_AGO = datetime.now(UTC) - 2 * HOUR
SAID = "I have not been able to read the channel since"


def place(stage: Stage) -> tuple[str, str]:
    return stage.slack.workspace.team_id, stage.slack.workspace.channel(CHANNEL).id


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage()  # no message events
    await say(opened, "@helper all")
    return opened


async def test_a_look_goes_on_from_the_last_one_that_succeeded(stage: Stage) -> None:
    stage.ask_and_answer()
    for number, fault in enumerate(({"error": "not_in_channel"}, {"status": 503}), 1):
        stage.slack.fail(HISTORY, times=100, **fault)
        await look(stage, number * OFTEN)
        stage.slack.workspace.faults.clear()
    await look(stage, 3 * OFTEN)
    assert await outcomes(stage) == {None: 1}
    await take_finished(stage, 4 * OFTEN)
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 1}


async def test_a_slow_channel_holds_up_no_other(stage: Stage) -> None:
    elsewhere = await watch_elsewhere(stage)
    stage.ask_and_answer()
    stage.helper.post(elsewhere, ANSWER, thread_ts=stage.ann.post(elsewhere, QUESTION).ts)
    gate = asyncio.Event()
    stage.slack.fail(HISTORY, held_until=gate)
    looking = asyncio.create_task(look(stage))
    found = select(replies.c.channel_id)
    await stage.eventually(lambda: stage.log.database.values(found))
    gate.set()
    await looking
    assert len(await stage.log.database.values(found)) == 2


async def test_a_look_without_the_database_fails_as_the_log_knows_it(stage: Stage) -> None:
    stage.ask_and_answer()
    await stage.log.database.execute(DropTable(replies))
    with pytest.raises(STORE_ERRORS):
        await look(stage)


@pytest.mark.needs("digest")
async def test_a_channel_not_read_for_an_hour_is_told_once_and_in_every_view(stage: Stage) -> None:
    stage.slack.fail(HISTORY, times=100, error="internal_error")
    for later, alerts in ((OFTEN, 0), (HOUR + OFTEN, 1), (HOUR + 3 * OFTEN, 1)):
        await look(stage, later)
        await alarm(stage, later)
        assert len(told(stage)) == alerts
    assert "cannot find new replies. I have not been able to read" in told(stage)[0].text
    await orders(stage).note_read(*place(stage), TWO_HOURS_AGO)  # as long ago as it was then
    await orders(stage).note_not_read(*place(stage), "internal_error", TWO_HOURS_AGO)
    assert SAID in await say(stage, "")
    assert SAID in shown(await stats(stage, count=3))
    stage.slack.workspace.faults.clear()
    await look(stage)
    assert SAID not in await say(stage, "")
