"""A window of a watch whose filling gets lost on the way to Slack, or on the way back."""

from typing import Any

import pytest

from bot.features.watch import ids
from bot.features.watch.text import ended
from bot.slack import ids as slack_ids
from tests.features.watch.test_watch_window import its, shown_fields, shown_now, window
from tests.features.watch.watching import say
from tests.stage import CHANNEL, Stage

LOST: list[dict[str, Any]] = [{"drop": True}, {"drop": True, "is_applied": True}]


@pytest.mark.parametrize("fault", LOST)
async def test_a_filling_that_gets_lost_is_tried_again(stage: Stage, fault: dict[str, Any]) -> None:
    stage.slack.fail("views.update", **fault)
    await window(stage)
    assert its(ids.BLOCK_SHARE, stage.helper.id) in shown_fields(stage)


@pytest.mark.parametrize("fault", LOST)
async def test_lost_examples_are_sent_again(stage: Stage, fault: dict[str, Any]) -> None:
    stage.ask_and_answer()
    stage.slack.fail("views.update", delay_s=0)  # the first one gets through
    stage.slack.fail("views.update", **fault)
    assert "git reset --soft" in await window(stage)


async def test_a_window_that_stays_empty_is_not_kept_quiet_about(stage: Stage) -> None:
    stage.slack.fail("views.update", times=2, status=503)
    stage.ann.command(CHANNEL, slack_ids.COMMAND, "watch @helper")
    assert "Something went wrong. Please try again" in (await stage.told(stage.ann)).text
    assert "Reading this channel" in shown_now(stage)


async def test_an_end_that_the_window_cannot_tell_of_is_told_in_the_channel(stage: Stage) -> None:
    await say(stage, "@helper all")
    await window(stage)
    stage.slack.fail("views.update", drop=True, times=2)
    stage.ann.click(stage.ann.view, ids.ACTION_WATCH_END)
    assert (await stage.told(stage.ann, 2)).text == ended("helper")
