"""The Home tab lists what a person's channels watch, and nothing of other channels."""

from datetime import UTC, datetime

import pytest

from bot.domain.watch import Coverage, Watch
from bot.features.watch import MOST_AT_HOME as MOST_WATCHES
from bot.features.watch.figures import CountedWatch
from bot.features.watch.text import line
from tests.features.watch.watching import only, orders, say
from tests.gestures import home
from tests.stage import CHANNEL, Stage, shown

pytestmark = pytest.mark.needs("home")


async def test_watches_of_ones_own_channels_are_listed_a_line_each(stage: Stage) -> None:
    assert "Watched in your channels" not in shown(await home(stage))
    await say(stage, "@helper 1 in 5 40 a day alert here")
    words = shown(await home(stage))
    watch = await only(stage)
    assert (
        f"<#{watch.channel_id}>: {line(CountedWatch(watch, 'helper', Coverage({}), None))}" in words
    )


async def test_nothing_is_said_of_channels_that_the_person_or_the_app_is_not_in(
    stage: Stage,
) -> None:
    workspace = stage.slack.workspace
    team_id = stage.slack.workspace.team_id
    others = [
        workspace.add_channel("secret", [stage.ben.user, workspace.bot], is_private=True),
        workspace.add_channel("left-by-the-app", [stage.ann.user]),
    ]
    for each in others:
        await orders(stage).save(
            Watch(team_id, each.id, stage.helper.id, datetime.now(UTC)), stage.ben.id
        )
    assert "Watched in your channels" not in shown(await home(stage))


async def test_a_long_list_says_how_many_more(stage: Stage) -> None:
    workspace = stage.slack.workspace
    team_id = stage.slack.workspace.team_id
    channel = workspace.channel(CHANNEL).id
    for number in range(MOST_WATCHES + 2):
        await orders(stage).save(
            Watch(team_id, channel, f"U9{number:02}", datetime.now(UTC)), stage.ann.id
        )
    words = shown(await home(stage))
    assert words.count(f"<#{channel}>: *U9") == MOST_WATCHES
    assert "And 2 more. `/judge watch` in a channel" in words


async def test_without_slacks_word_on_channels_none_are_listed(stage: Stage) -> None:
    await say(stage, "@helper all")
    for _ in range(10):
        stage.slack.fail("users.conversations", error="missing_scope")
    assert "Watched in your channels" not in shown(await home(stage))
