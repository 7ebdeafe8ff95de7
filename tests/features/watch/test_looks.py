"""Looks at watched channels: what was written while Slack could not be read is found, and the
trouble is said.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.domain.watch import ReplyOutcome
from bot.features.watch.looks import MOST, OFTEN, recent_replies
from bot.features.watch.watcher import Watcher
from bot.slack import ids
from tests.features.watch.watching import (
    alarm,
    look,
    only,
    orders,
    outcomes,
    say,
    take_finished,
    told,
)
from tests.stage import CHANNEL, Stage, StageFactory, shown

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


@pytest.mark.parametrize(
    "fault", [{"error": "internal_error"}, {"status": 503}, {"error": "not_in_channel"}]
)
async def test_a_look_goes_on_from_the_last_one_that_succeeded(
    stage: Stage, fault: dict[str, object]
) -> None:
    stage.ask_and_answer()
    stage.slack.fail(HISTORY, times=100, **fault)
    for number in range(1, 8):
        await look(stage, number * OFTEN)
    stage.slack.workspace.faults.clear()
    await look(stage, 8 * OFTEN)
    assert await outcomes(stage) == {None: 1}
    await take_finished(stage, 9 * OFTEN)
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 1}


@pytest.mark.needs("digest")
async def test_a_channel_that_cannot_be_read_for_an_hour_is_said_once_and_in_every_view(
    stage: Stage,
) -> None:
    stage.slack.fail(HISTORY, times=100, error="internal_error")
    await look(stage)
    await alarm(stage, HOUR - OFTEN)
    assert told(stage) == []
    for later in (HOUR + OFTEN, HOUR + 3 * OFTEN):
        await look(stage, later)
        await alarm(stage, later)
    (alert,) = told(stage)
    assert "cannot find new replies. I have not been able to read the channel since" in alert.text
    assert "Slack answers `internal_error`" in alert.text
    await orders(stage).note_read(*place(stage), TWO_HOURS_AGO)  # as long ago as it was then
    await orders(stage).note_not_read(*place(stage), "internal_error", TWO_HOURS_AGO)
    assert SAID in await say(stage, "")
    stage.ann.command(CHANNEL, ids.COMMAND, "stats")
    assert SAID in shown(await stage.told(stage.ann, 3))
    stage.slack.workspace.faults.clear()
    await look(stage)
    assert SAID not in await say(stage, "")


async def previewed(stage: Stage) -> Sequence[str]:
    """The texts of helper's last replies, the newest first."""
    assert stage.services
    return [
        reply.text for reply in await recent_replies(Watcher(stage.services), await only(stage))
    ]


async def test_what_was_sent_to_the_channel_as_well_is_shown_once(stage: Stage) -> None:
    question = stage.ann.post(CHANNEL, "What is a branch?")
    stage.helper.post(CHANNEL, "A name for a commit.", thread_ts=question.ts, is_broadcast=True)
    assert await previewed(stage) == ["A name for a commit."]


async def test_replies_in_a_thread_of_many_are_found_newest_first(stage: Stage) -> None:
    question = stage.ann.post(CHANNEL, "What is a branch?")
    for number in range(MOST):  # of whom Slack names five alone
        workspace = stage.slack.workspace
        other = workspace.add_user(f"other{number}")
        workspace.channel(CHANNEL).members.append(other.id)
        stage.slack.person(other.name).post(CHANNEL, "So am I wondering.", thread_ts=question.ts)
    stage.helper.post(CHANNEL, "A name for a commit.", thread_ts=question.ts)
    stage.ann.post(CHANNEL, "And a tag?", thread_ts=question.ts)
    stage.helper.post(CHANNEL, "A name that stays.", thread_ts=question.ts)
    assert await previewed(stage) == ["A name that stays.", "A name for a commit."]


async def test_a_busy_channel_is_not_read_to_the_beginning_of_the_week(stage: Stage) -> None:
    for _ in range(1201):
        stage.ben.post(CHANNEL, "Good morning.")
    before = len(calls(stage))
    assert await previewed(stage) == []
    assert len(calls(stage)) - before == 5


def calls(stage: Stage) -> Sequence[Any]:
    return [
        each for each in stage.slack.workspace.journal.of("call") if each.data["method"] == HISTORY
    ]
