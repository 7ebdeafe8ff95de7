"""The Home tab: what a person finds there, what they can press, and what they must not see."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from bot.domain.case import CaseStatus, Visibility
from bot.features.home.handlers import ACTION_HOME_VISIBILITY
from bot.store.channels import ChannelSettings
from pocket_slack import Channel, View
from tests.gestures import (
    add_case,
    calls,
    help_desk,
    home,
    open_settings,
    press_in_settings,
    private,
)
from tests.stage import (
    ANSWER,
    CHANNEL,
    Stage,
    StageFactory,
    shown,
)

NO_ASSISTANTS = "No assistant of your channels is watched yet"


def of(channel: Channel) -> str:
    """The id of a channel's block."""
    return f"channel-{channel.id}"


def block_of(view: View, channel: Channel) -> dict[str, Any] | None:
    """A channel's block in the window."""
    found = [block for block in view.body["blocks"] if block.get("block_id") == of(channel)]
    return found[0] if found else None


async def settings(stage: Stage, channel: Channel) -> ChannelSettings:
    return await stage.log.channels.of(stage.slack.workspace.team_id, channel.id)


@pytest.mark.needs("watch")
async def test_a_first_visit_says_how_to_begin(stage: Stage) -> None:
    words = shown(await home(stage))
    assert "choose *Score this reply*" in words
    assert "You have not asked for a score yet" in words
    assert NO_ASSISTANTS in words


async def test_a_reply_is_quoted_no_more_once_the_person_has_left_its_channel(stage: Stage) -> None:
    await add_case(
        stage, help_desk(stage), stage.helper.id, 4, requester_id=stage.ann.id, response=ANSWER
    )
    assert ANSWER in shown(await home(stage))
    stage.ann.leave(CHANNEL)
    view = await home(stage)
    assert ANSWER not in shown(view)
    assert "Score 4 of 5" in shown(view)


async def test_a_case_that_waits_for_its_question_is_listed_for_a_day(stage: Stage) -> None:
    now = datetime.now(UTC)
    asked = {"status": CaseStatus.ASKED, "judged_at": None, "requester_id": stage.ann.id}
    for score, hours in ((1, 23), (2, 25)):
        at = now - timedelta(hours=hours)
        await add_case(stage, help_desk(stage), stage.helper.id, score, **asked, created_at=at)
    await add_case(
        stage,
        help_desk(stage),
        stage.helper.id,
        4,
        requester_id=stage.ann.id,
        created_at=now - timedelta(days=2),
    )
    words = shown(await home(stage))
    assert [f"case {number}" in words for number in (1, 2, 3)] == [True, False, True]
    assert words.count("`/judge forget 1` deletes it") == words.count(" deletes it") == 1


async def test_older_cases_are_listed_by_the_command(stage: Stage) -> None:
    for score in range(6):
        await add_case(stage, help_desk(stage), stage.helper.id, score, requester_id=stage.ann.id)
    words = shown(await home(stage))
    assert words.count("· case ") == 5
    assert "/judge recent" in words


async def test_a_case_that_waits_for_its_question_waits_for_the_person(stage: Stage) -> None:
    asked = {"status": CaseStatus.ASKED, "judged_at": None, "requester_id": stage.ann.id}
    await add_case(stage, help_desk(stage), stage.helper.id, 1, **asked)
    words = shown(await home(stage))
    assert words.index("Waiting for you") < words.index("case 1") < words.index("Your cases")


@pytest.mark.needs("digest")
async def test_the_digest_is_switched_on_and_off_in_the_settings(stage: Stage) -> None:
    from bot.features.digest.ids import ACTION_DIGEST_OFF, ACTION_DIGEST_ON

    channel = help_desk(stage)
    window = await open_settings(stage)
    assert f"<#{channel.id}>: no weekly digest." in shown(window)
    window = await press_in_settings(stage, window, ACTION_DIGEST_ON, block_id=of(channel))
    assert (await settings(stage, channel)).is_digest_on
    assert f"<#{channel.id}>: every Monday at 09:00 (UTC)." in shown(window)
    window = await press_in_settings(stage, window, ACTION_DIGEST_OFF, block_id=of(channel))
    assert not (await settings(stage, channel)).is_digest_on
    assert f"<#{channel.id}>: no weekly digest." in shown(window)


@pytest.mark.needs("digest")
async def test_a_button_with_another_channel_in_it_changes_nothing(
    stage: Stage,
) -> None:
    from bot.features.digest.ids import ACTION_DIGEST_ON

    leads = private(stage, "ben")
    window = await open_settings(stage)
    assert block_of(window, leads) is None
    block = block_of(window, help_desk(stage))
    assert block is not None
    block["accessory"]["value"] = leads.id
    window = await press_in_settings(stage, window, ACTION_DIGEST_ON, block_id=of(help_desk(stage)))
    assert "Only people in this channel" in shown(window)
    for channel in (leads, help_desk(stage)):
        assert not (await settings(stage, channel)).is_digest_on


@pytest.mark.needs("digest")
async def test_only_admins_have_the_button_where_only_they_may_change_it(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage(digest_by="admins")
    block = block_of(await open_settings(stage), help_desk(stage))
    assert block is not None
    assert "accessory" not in block


@pytest.mark.needs("digest")
async def test_channels_without_the_app_have_no_digest(stage: Stage) -> None:
    workspace = stage.slack.workspace
    public = workspace.add_channel("public", [workspace.user("ann")])
    assert block_of(await open_settings(stage), public) is None


@pytest.mark.needs("digest")
async def test_of_many_channels_those_with_a_digest_are_shown_first(stage: Stage) -> None:
    from bot.features.digest.handlers import MOST_CHANNELS

    workspace = stage.slack.workspace
    for number in range(MOST_CHANNELS):
        last = workspace.add_channel(f"{'x' * 70}{number}", [workspace.user("ann"), workspace.bot])
    await stage.log.channels.save(workspace.team_id, last.id, "U1", is_digest_on=True)
    words = shown(await open_settings(stage))
    assert words.index(f"<#{last.id}>: every") < words.index("no weekly digest")
    assert "And 1 more: type `/judge digest` there." in words


async def test_a_person_chooses_who_sees_their_verdicts(stage: Stage) -> None:
    whose = (stage.slack.workspace.team_id, stage.ann.id)
    window = await open_settings(stage)
    for value, kept in (("me", Visibility.ME), ("thread", Visibility.THREAD), ("workspace", None)):
        window = await press_in_settings(stage, window, ACTION_HOME_VISIBILITY, value)
        assert await stage.log.channels.visibility(*whose) is kept
        menus = [
            b["accessory"]
            for b in window.body["blocks"]
            if b.get("accessory", {}).get("type") == "static_select"
        ]
        assert [each["initial_option"]["value"] for each in menus] == [value]


async def test_the_tab_says_that_the_database_cannot_be_read(stage: Stage) -> None:
    async with stage.log.database.engine.begin() as connection:
        await connection.execute(text("ALTER TABLE cases RENAME TO elsewhere"))
    assert "I cannot read the database right now" in shown(await home(stage))


async def test_a_tab_that_slack_refuses_is_published_the_next_time(stage: Stage) -> None:
    stage.slack.fail("views.publish", error="internal_error")
    stage.ann.open_home()
    await stage.slack.until(lambda: calls(stage, "views.publish"))
    assert stage.ann.home is None
    assert "You have not asked" in shown(await home(stage))


async def test_opening_the_messages_beside_it_publishes_nothing(stage: Stage) -> None:
    await home(stage)
    (opened,) = [
        e.data["payload"]
        for e in stage.slack.workspace.journal.of("envelope")
        if e.data["type"] == "events_api"
    ]
    changes = {
        "event": opened["event"] | {"tab": "messages", "user": stage.ben.id},
        "event_id": "Ev0",
    }
    await stage.slack.settled(stage.slack.workspace.deliveries.send("events_api", opened | changes))
    for _ in range(2):
        await home(stage)
    assert stage.ben.home is None
