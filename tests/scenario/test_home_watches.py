"""The Home tab lists what a person's channels watch, and nothing of other channels."""

from datetime import UTC, datetime

from bot.domain.watch import Watch
from bot.views.home import MOST_WATCHES
from tests.scenario.conftest import CHANNEL, Stage, shown
from tests.scenario.watching import say


async def home(stage: Stage) -> str:
    before = stage.ann.home and stage.ann.home.hash
    stage.ann.open_home()
    await stage.slack.until(lambda: stage.ann.home and stage.ann.home.hash != before)
    assert stage.ann.home is not None
    return shown(stage.ann.home)


async def test_watches_of_ones_own_channels_are_listed_a_line_each(stage: Stage) -> None:
    assert "What your channels watch" not in await home(stage)
    await say(stage, "@helper 1 in 5 40 a day alert here")
    words = await home(stage)
    channel = stage.slack.workspace.channel(CHANNEL).id
    assert f"<#{channel}>: *helper*: a random 1 in 5, at most 40 a day of its replies to people." in words
    assert "In the last 7 days: 0 seen." in words


async def test_nothing_is_said_of_channels_that_the_person_or_the_app_is_not_in(stage: Stage) -> None:
    workspace, team_id = stage.slack.workspace, stage.slack.workspace.team_id
    others = [
        workspace.add_channel("secret", [stage.ben.user, workspace.bot], is_private=True),
        workspace.add_channel("left-by-the-app", [stage.ann.user]),
    ]
    for each in others:
        await stage.log.watches.save(Watch(team_id, each.id, stage.helper.id, datetime.now(UTC)), stage.ben.id)
    assert "What your channels watch" not in await home(stage)


async def test_a_long_list_says_how_many_more(stage: Stage) -> None:
    workspace, team_id = stage.slack.workspace, stage.slack.workspace.team_id
    channel = workspace.channel(CHANNEL).id
    for number in range(MOST_WATCHES + 2):
        await stage.log.watches.save(Watch(team_id, channel, f"U9{number:02}", datetime.now(UTC)), stage.ann.id)
    words = await home(stage)
    assert words.count(f"<#{channel}>: *U9") == MOST_WATCHES
    assert "And 2 more: type `/judge watch` there." in words


async def test_without_slacks_word_on_channels_none_are_listed(stage: Stage) -> None:
    await say(stage, "@helper all")
    for _ in range(10):
        stage.slack.fail("users.conversations", error="missing_scope")
    assert "What your channels watch" not in await home(stage)
