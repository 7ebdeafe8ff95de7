"""The Home tab: what a person finds there, what they can press, and what they must not see."""

import pytest
from sqlalchemy import text

from bot.domain.case import Visibility
from bot.features.home.handlers import ACTION_HOME_VISIBILITY
from tests.gestures import (
    add_cases,
    calls,
    events,
    help_desk,
    home,
    open_settings,
    press_in_settings,
)
from tests.stage import (
    Stage,
    shown,
)


@pytest.mark.needs("watch")
async def test_a_first_visit_says_how_to_begin_and_a_later_one_lists_the_latest_cases(
    stage: Stage,
) -> None:
    stage.slack.fail("views.publish", error="internal_error")
    stage.ann.open_home()
    await stage.slack.until(lambda: calls(stage, "views.publish"))
    words = shown(await home(stage))
    assert "You have not asked for a score yet" in words
    assert "No assistant of your channels is watched yet" in words
    await add_cases(stage, help_desk(stage), stage.helper.id, *range(6), requester_id=stage.ann.id)
    words = shown(await home(stage))
    assert words.count("· case ") == 5
    assert "/judge recent" in words


async def test_a_person_chooses_who_sees_their_verdicts(stage: Stage) -> None:
    window = await open_settings(stage)
    for value, kept in (("me", Visibility.ME), ("workspace", None)):
        window = await press_in_settings(stage, window, ACTION_HOME_VISIBILITY, value)
        team_id = stage.slack.workspace.team_id
        assert await stage.log.channels.visibility(team_id, stage.ann.id) is kept
        menus = [block["accessory"] for block in window.body["blocks"] if "accessory" in block]
        assert menus[0]["initial_option"]["value"] == value


async def test_the_tab_says_that_the_database_cannot_be_read(stage: Stage) -> None:
    async with stage.log.database.engine.begin() as connection:
        await connection.execute(text("ALTER TABLE cases RENAME TO elsewhere"))
    assert "I cannot read the database right now" in shown(await home(stage))


async def test_opening_the_messages_beside_it_publishes_nothing(stage: Stage) -> None:
    await home(stage)
    (opened,) = [each.data["payload"] for each in events(stage)]
    beside = opened["event"] | {"tab": "messages", "user": stage.ben.id}
    payload = opened | {"event": beside, "event_id": "Ev0"}
    await stage.slack.settled(stage.slack.workspace.deliveries.send("events_api", payload))
    await home(stage)
    assert stage.ben.home is None
