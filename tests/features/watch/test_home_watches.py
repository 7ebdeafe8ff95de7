"""The Home tab lists what a person's channels watch, and nothing of other channels."""

from datetime import UTC, datetime

import pytest

from bot.domain.watch import Coverage, Watch
from bot.features.watch import MOST_AT_HOME as MOST_WATCHES
from bot.features.watch import ids
from bot.features.watch.figures import CountedWatch
from bot.features.watch.text import line
from tests.features.watch.test_watch_window import filled, grown, its, updates
from tests.features.watch.watching import add_other, only, orders, say
from tests.gestures import home
from tests.stage import CHANNEL, Stage, shown

pytestmark = pytest.mark.needs("home")


async def test_watches_of_ones_own_channels_are_listed_a_line_each(stage: Stage) -> None:
    assert "Watched in your channels" not in shown(await home(stage))
    await say(stage, "@helper 1 in 5 40 a day alert here")
    words = shown(await home(stage))
    watch = await only(stage)
    assert f"<#{watch.channel_id}>: {line(CountedWatch(watch, 'helper', Coverage({}), None))}" in words


async def press_change(stage: Stage, number: int = 0) -> None:
    """Presses *Change* beside one of the watches that the tab lists."""
    view = stage.ann.home
    assert view is not None
    blocks = [
        block for block in view.body["blocks"] if block.get("accessory", {}).get("text", {}).get("text") == "Change"
    ]
    stage.ann.click(view, ids.ACTION_HOME_WATCH, block_id=blocks[number]["block_id"])


async def renewed(stage: Stage, text: str) -> str:
    """What the tab shows once it says that."""
    await stage.slack.until(lambda: stage.ann.home and text in shown(stage.ann.home))
    assert stage.ann.home is not None
    return shown(stage.ann.home)


async def test_a_watch_is_changed_in_the_tab_which_then_shows_it(stage: Stage) -> None:
    add_other(stage)
    await say(stage, "@helper 1 in 5")
    await say(stage, "@other all 7 a day")
    await home(stage)
    await press_change(stage, 1)
    await filled(stage, "Replies to score")
    assert "Replies of other will no longer be scored" in await grown(stage)
    other = stage.slack.person("other").id
    stage.ann.click(stage.ann.view, its(ids.BLOCK_SHARE, other), "2")  # the window is filled anew
    await stage.slack.until(lambda: updates(stage) == 5)
    await stage.slack.settled(stage.ann.submit({its(ids.BLOCK_PER_DAY, other): "9"}))
    words = await renewed(stage, "at most 9 a day")
    assert "*other*: a random 1 in 2 of its replies to people, at most 9 a day." in words
    assert "*helper*: a random 1 in 5 of its replies to people, at most 50 a day." in words
    assert len(stage.ann.ephemerals(CHANNEL)) == 2  # the tab says it, and the channel not besides


async def test_a_watch_that_is_ended_from_the_tab_leaves_it(stage: Stage) -> None:
    await say(stage, "@helper all")
    await home(stage)
    await press_change(stage)
    await filled(stage, "Replies to score")
    await grown(stage)
    stage.ann.click(stage.ann.view, ids.ACTION_WATCH_END)
    await stage.slack.until(lambda: stage.ann.home and "Watched in your channels" not in shown(stage.ann.home))
    assert "no longer watched here" in await filled(stage, "no longer watched")
    assert await stage.log.watches.of(stage.slack.workspace.team_id) == []


async def test_a_window_that_opens_too_late_is_said_in_the_tab(stage: Stage) -> None:
    await say(stage, "@helper all")
    await home(stage)
    stage.slack.fail("views.open", error="expired_trigger_id")
    await press_change(stage)
    assert "did not open in time" in await renewed(stage, "did not open in time")


async def test_the_buttons_channel_is_believed_no_more_than_a_typed_one(stage: Stage) -> None:
    await say(stage, "@helper all")
    await home(stage)
    stage.ann.leave(CHANNEL)
    await press_change(stage)
    assert "End this watch" not in await filled(stage, "Only people in this channel")
    assert len(await stage.log.watches.of(stage.slack.workspace.team_id)) == 1


async def test_nothing_is_said_of_channels_that_the_person_or_the_app_is_not_in(stage: Stage) -> None:
    workspace, team_id = stage.slack.workspace, stage.slack.workspace.team_id
    others = [
        workspace.add_channel("secret", [stage.ben.user, workspace.bot], is_private=True),
        workspace.add_channel("left-by-the-app", [stage.ann.user]),
    ]
    for each in others:
        await orders(stage).save(Watch(team_id, each.id, stage.helper.id, datetime.now(UTC)), stage.ben.id)
    assert "Watched in your channels" not in shown(await home(stage))


async def test_a_long_list_says_how_many_more(stage: Stage) -> None:
    workspace, team_id = stage.slack.workspace, stage.slack.workspace.team_id
    channel = workspace.channel(CHANNEL).id
    for number in range(MOST_WATCHES + 2):
        await orders(stage).save(Watch(team_id, channel, f"U9{number:02}", datetime.now(UTC)), stage.ann.id)
    words = shown(await home(stage))
    assert words.count(f"<#{channel}>: *U9") == MOST_WATCHES
    assert "And 2 more: type `/judge watch` there." in words


async def test_without_slacks_word_on_channels_none_are_listed(stage: Stage) -> None:
    await say(stage, "@helper all")
    for _ in range(10):
        stage.slack.fail("users.conversations", error="missing_scope")
    assert "Watched in your channels" not in shown(await home(stage))
