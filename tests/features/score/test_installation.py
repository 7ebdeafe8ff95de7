"""Payloads of another workspace that has the same app are not served; whose person is whose is
asked of Slack.
"""

from typing import Any

import pytest

from bot.domain.blocker import FOREIGN
from bot.pipeline.text import NOT_SERVED, WENT_WRONG
from bot.slack import ids
from pocket_slack import Delivery, payloads
from tests.stage import CHANNEL, Stage

ELSEWHERE = "T0ELSEWHERE"


def shortcut(stage: Stage, **changes: Any) -> Delivery:
    """The message shortcut with a payload of the test's own."""
    workspace = stage.slack.workspace
    _, answer = stage.ask_and_answer()
    sent = payloads.message_shortcut(
        workspace, stage.ann.user, workspace.channel(CHANNEL), answer, ids.SHORTCUT_SCORE_REPLY
    )
    return workspace.deliveries.send("interactive", sent | changes)


def without_home(stage: Stage) -> dict[str, str]:
    return {"id": stage.ann.id, "username": "ann", "name": "ann"}


async def test_a_shortcut_of_another_workspace_is_not_served(stage: Stage) -> None:
    delivery = await stage.slack.settled(
        shortcut(stage, team={"id": ELSEWHERE, "domain": "elsewhere"})
    )
    assert delivery.is_acked
    assert await stage.cases() == 0
    assert not [
        call
        for call in stage.slack.workspace.journal.of("call")
        if "chat." in str(call.data.get("method"))
    ]


async def test_a_command_of_another_workspace_is_told_so(stage: Stage) -> None:
    workspace = stage.slack.workspace
    sent = payloads.slash_command(
        workspace, stage.ann.user, workspace.channel(CHANNEL), ids.COMMAND, "Why? | Because."
    )
    delivery = await stage.slack.settled(
        workspace.deliveries.send("slash_commands", sent | {"team_id": ELSEWHERE})
    )
    assert delivery.response is not None
    assert delivery.response["text"].startswith(NOT_SERVED)
    assert await stage.cases() == 0


@pytest.mark.needs("home")
async def test_an_event_of_another_workspace_is_dropped(stage: Stage) -> None:
    workspace = stage.slack.workspace
    event = {
        "type": "app_home_opened",
        "user": stage.ann.id,
        "channel": "D1",
        "tab": "home",
        "event_ts": "1.0",
    }
    granted = [{"enterprise_id": None, "team_id": ELSEWHERE, "user_id": "U1", "is_bot": True}]
    sent = {
        "type": "event_callback",
        "event_id": "Ev1",
        "event_time": 1,
        "api_app_id": workspace.app_id,
    }
    sent |= {"team_id": workspace.team_id, "event": event, "authorizations": granted}
    assert (await stage.slack.settled(workspace.deliveries.send("events_api", sent))).is_acked
    for person in (stage.ann, stage.ben):  # our own, which are served after it
        person.open_home()
        await stage.slack.until(lambda: person.home)  # noqa: B023 - done by then
    published = [
        call.data["args"]
        for call in workspace.journal.of("call")
        if call.data["method"] == "views.publish"
    ]
    assert [args["user_id"] for args in published] == [stage.ann.id, stage.ben.id]


async def test_a_person_whose_workspace_the_payload_does_not_name_is_asked_for_once(
    stage: Stage,
) -> None:
    for _ in range(2):
        await stage.slack.settled(shortcut(stage, user=without_home(stage)))
    assert await stage.cases() == 2
    calls = [
        call.data
        for call in stage.slack.workspace.journal.of("call")
        if call.data["method"] == "users.info"
    ]
    assert [call["args"]["user"] for call in calls].count(stage.ann.user.id) == 1


async def test_a_person_whom_slack_places_in_another_workspace_is_refused(stage: Stage) -> None:
    stage.ann.user.team_id = ELSEWHERE
    await stage.slack.settled(shortcut(stage, user=without_home(stage)))
    assert (await stage.told(stage.ann)).text == FOREIGN
    assert await stage.cases() == 0


async def test_a_request_is_not_served_while_slack_does_not_say_whose_it_is(stage: Stage) -> None:
    stage.slack.fail("users.info", error="missing_scope")
    shortcut(stage, user=without_home(stage))
    assert (await stage.told(stage.ann)).text == WENT_WRONG
    assert await stage.cases() == 0


async def test_a_mention_in_a_shared_channel_that_slack_tells_of_in_anothers_name_is_refused(
    stage: Stage,
) -> None:
    stage.ann.user.team_id = ELSEWHERE
    sent = mention(stage, {"user_team": ELSEWHERE}) | {
        "team_id": ELSEWHERE,
        "is_ext_shared_channel": True,
    }
    await stage.slack.settled(stage.slack.workspace.deliveries.send("events_api", sent))
    assert (await stage.told(stage.ann)).text == FOREIGN
    assert await stage.cases() == 0


def mention(stage: Stage, changes: dict[str, Any]) -> dict[str, Any]:
    """ann asks for a score of a reply, in an event with parts of the test's own; None leaves one
    out.
    """
    workspace = stage.slack.workspace
    parent, _ = stage.ask_and_answer()
    event = {
        "type": "app_mention",
        "user": stage.ann.id,
        "channel": workspace.channel(CHANNEL).id,
        "ts": "1795000000.1",
    }
    event |= {"thread_ts": parent.ts, "text": f"<@{workspace.bot.id}> score this", **changes}
    granted = [
        {
            "enterprise_id": None,
            "team_id": workspace.team_id,
            "user_id": workspace.bot.id,
            "is_bot": True,
        }
    ]
    sent = {
        "type": "event_callback",
        "event_id": "Ev1",
        "event_time": 1,
        "team_id": workspace.team_id,
    }
    return sent | {
        "authorizations": granted,
        "event": {k: v for k, v in event.items() if v is not None},
    }
