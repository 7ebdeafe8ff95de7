"""Payloads of another workspace that has the same app are not served; whose person is whose is
asked of Slack.
"""

from typing import Any

from bot.domain.blocker import FOREIGN
from bot.pipeline.text import NOT_SERVED, WENT_WRONG
from bot.slack import ids
from pocket_slack import Delivery, payloads
from tests.gestures import calls
from tests.stage import CHANNEL, Stage

ELSEWHERE = "T0ELSEWHERE"


def shortcut(stage: Stage, **changes: Any) -> Delivery:
    """The message shortcut with a payload of the test's own."""
    workspace = stage.workspace
    _, answer = stage.ask_and_answer()
    sent = payloads.message_shortcut(
        workspace, stage.ann.user, workspace.channel(CHANNEL), answer, ids.SHORTCUT_SCORE_REPLY
    )
    return workspace.deliveries.send("interactive", sent | changes)


def without_home(stage: Stage) -> dict[str, str]:
    return {"id": stage.ann.id, "username": "ann", "name": "ann"}


async def test_payloads_of_another_workspace_are_not_served_and_a_command_is_told_so(
    stage: Stage,
) -> None:
    assert (await stage.slack.settled(shortcut(stage, team={"id": ELSEWHERE}))).is_acked
    workspace = stage.workspace
    channel = workspace.channel(CHANNEL)
    sent = payloads.slash_command(workspace, stage.ann.user, channel, ids.COMMAND, "Why? | So.")
    sent |= {"team_id": ELSEWHERE}
    delivery = await stage.slack.settled(workspace.deliveries.send("slash_commands", sent))
    assert delivery.response["text"].startswith(NOT_SERVED)
    assert (await stage.cases(), stage.ours()) == (0, [])


async def test_a_person_whose_workspace_the_payload_does_not_name_is_asked_for_once(
    stage: Stage,
) -> None:
    for _ in range(2):
        await stage.slack.settled(shortcut(stage, user=without_home(stage)))
    assert await stage.cases() == 2
    asked = [call.data["args"]["user"] for call in calls(stage, "users.info")]
    assert asked.count(stage.ann.id) == 1


async def test_a_person_whom_slack_places_in_another_workspace_is_refused_and_nobody_is_guessed(
    stage: Stage,
) -> None:
    stage.slack.fail("users.info", error="missing_scope")
    shortcut(stage, user=without_home(stage))
    assert (await stage.told(stage.ann)).text == WENT_WRONG
    stage.ann.user.team_id = ELSEWHERE
    await stage.slack.settled(shortcut(stage, user=without_home(stage)))
    assert (await stage.told(stage.ann, 2)).text == FOREIGN
    assert await stage.cases() == 0
