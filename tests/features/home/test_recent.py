"""`/judge recent`: one's own cases from everywhere, page by page, and never those of others."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import insert
from syrupy.assertion import SnapshotAssertion

from bot.domain.case import CaseStatus, Recipient, Visibility
from bot.features.home.handlers import ACTION_RECENT_OLDER
from bot.features.score.command import help_line
from bot.slack import ids
from bot.slack.messenger import NOT_SHOWN
from bot.store import Store
from bot.store.schema import cases
from pocket_slack import Message
from tests.cases import a_row
from tests.gestures import home
from tests.stage import CHANNEL, Stage, buttons, shown
from tests.texts import read

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


async def recent(stage: Stage, count: int = 1) -> Message:
    """What ann is told after `/judge recent`."""
    stage.ann.command(CHANNEL, ids.COMMAND, "recent")
    return await stage.told(stage.ann, count)


async def add_cases(log: Store, count: int, **changes: Any) -> None:
    """That many cases, delivered a minute apart, the last one newest."""
    row = a_row(message_ts="1795249798.298493", score=4)
    for number in range(count):
        at = NOON + timedelta(minutes=number)
        key = f"{changes.get('requester_id')}:{number}:{changes}"
        values = row | {"created_at": at, "judged_at": at, "key": key} | changes
        await log.database.execute(insert(cases).values(values))


def of_ann(stage: Stage) -> dict[str, str]:
    return {
        "team_id": stage.slack.workspace.team_id,
        "requester_id": stage.ann.id,
        "channel_id": stage.slack.workspace.channel(CHANNEL).id,
    }


def numbers(message: Message) -> list[int]:
    """The numbers of the cases in a list, in its order."""
    words = [word for line in shown(message).splitlines() for word in line.split(" · ")]
    return [int(word.removeprefix("case ")) for word in words if word.startswith("case ")]


@pytest.mark.needs("labels")
async def test_a_low_case_names_the_judges_reason_beside_the_reply_and_can_be_labelled_also_at_home(
    stage: Stage,
) -> None:
    low = {"score": 1, "justification": "It names no source.", "response": "Look it up."}
    await add_cases(stage.log, 1, **of_ann(stage), **low)
    told = await recent(stage)
    assert buttons(told) == [ids.ACTION_FAIR, ids.ACTION_NOT_FAIR]
    for surface in (told, await home(stage)):
        words = shown(surface)
        assert words.index("Look it up.") < words.index("The judge's reason:\nIt names no source.")
    await stage.slack.settled(stage.ann.click(await home(stage), ids.ACTION_FAIR))
    await stage.slack.until(lambda: "Fair ✓" in str(stage.ann.home))
    stage.ann.click(told, ids.ACTION_NOT_FAIR)
    await stage.fill_in(stage.ann, {"score": "3"})
    await stage.slack.until(lambda: "Not fair ✓" in str(stage.ann.ephemerals(CHANNEL)[0].blocks))


ROWS: list[dict[str, Any]] = [
    {"response": f"<!channel>\n*see* `rm` {'x' * 90}", "author_id": "helper"},
    {"response": "Gone.", "author_id": "helper", "deleted_at": NOON},
    {"response": "Gone.", "author_id": "helper", "forgotten_at": NOON},
    {"response_hash": "0" * 64},
    {"status": CaseStatus.RECEIVED, "score": None},
    {"blocker": "An image.", "blocked_by": "image"},
    {"response": "\u200b"},
    {"response": "Like this.", "message_ts": None, "visibility": Visibility.ME},
    {"response": "Reset it.", "score": None, "unscored_reason": "refused"},
    {"response": "Reset it.", "score": None, "status": CaseStatus.ASKED},
]


async def test_a_list_reads_as_in_the_snapshot(stage: Stage, snapshot: SnapshotAssertion) -> None:
    for number, row in enumerate(ROWS):
        own = {"author_id": stage.helper.id} if "author_id" in row else {}
        await add_cases(stage.log, 1, **of_ann(stage), **row | own | {"key": f"row {number}"})
    told = await recent(stage)
    assert read(told.blocks).replace(of_ann(stage)["channel_id"], "C1") == snapshot


async def from_home(stage: Stage) -> str:
    """What ann's list says where she stands in no channel."""
    stage.ann.command(stage.ann.im, ids.COMMAND, "recent")
    return shown(
        await stage.told(stage.ann, len(stage.ann.ephemerals(stage.ann.im)) + 1, stage.ann.im)
    )


async def test_elsewhere_a_reply_is_quoted_only_to_those_who_slack_says_are_in_its_channel(
    stage: Stage,
) -> None:
    await add_cases(stage.log, 1, **of_ann(stage), response="Reset it.", author_id=stage.helper.id)
    stage.slack.fail("users.conversations", error="missing_scope")
    unknown = await from_home(stage)
    assert "Score 4 of 5" in unknown
    assert "Reset" not in unknown
    assert "\nReset it." in await from_home(stage)
    stage.ann.leave(CHANNEL)
    left = await from_home(stage)
    assert "Reset" not in left
    assert left.endswith(" · text shown only in its channel")
    assert "helper in <#" in left


async def test_replies_of_a_private_channel_without_the_app_are_quoted_only_there(
    stage: Stage,
) -> None:
    workspace = stage.slack.workspace
    secret = workspace.add_channel("secret", [workspace.user("ann")], is_private=True)
    await add_cases(stage.log, 1, **of_ann(stage) | {"channel_id": secret.id}, response="Reset it.")
    assert "Reset" not in await from_home(stage)
    stage.ann.command("secret", ids.COMMAND, "recent")
    assert "\nReset it." in shown(await stage.told(stage.ann, channel="secret"))


async def test_the_page_turns_in_place_to_the_oldest_and_back(stage: Stage) -> None:
    await add_cases(stage.log, 23, **of_ann(stage))
    told = await recent(stage)
    newest = list(range(23, 13, -1))
    assert numbers(told) == newest
    for action, page in (
        (ACTION_RECENT_OLDER, list(range(13, 3, -1))),
        (ACTION_RECENT_OLDER, [3, 2, 1]),
        (ids.ACTION_RECENT_NEWEST, newest),
    ):
        stage.ann.click(told, action)
        await stage.slack.until(lambda page=page: numbers(told) == page)
        assert (ACTION_RECENT_OLDER in buttons(told)) == (page[-1] > 1)
    assert stage.ann.ephemerals(CHANNEL) == [told]


async def test_cases_of_others_and_of_other_teams_are_not_listed_also_from_a_forged_place(
    stage: Stage,
) -> None:
    await add_cases(stage.log, 3, **of_ann(stage) | {"requester_id": stage.ben.id})
    await add_cases(stage.log, 1, **of_ann(stage) | {"team_id": "T0"})
    assert (await recent(stage)).text.startswith("You have not asked for a score yet.")
    await add_cases(stage.log, 11, **of_ann(stage))
    told = await recent(stage, 2)
    told.blocks[-1]["elements"][0]["value"] = "2030-01-01T00:00:00+00:00/999"
    stage.ann.click(told, ACTION_RECENT_OLDER)
    await stage.slack.until(lambda: ids.ACTION_RECENT_NEWEST in buttons(told))
    assert numbers(told) == list(range(15, 5, -1))


@pytest.mark.on("sqlite")
async def test_cases_of_one_moment_are_each_listed_once(log: Store) -> None:
    whose = {"team_id": "T1", "requester_id": "U1", "channel_id": "C1"}
    for number in range(5):
        await add_cases(log, 1, **whose, key=str(number))
    first = await log.cases.recent("T1", "U1", 2)
    rest = await log.cases.recent("T1", "U1", 9, (first[-1].created_at, first[-1].id))
    assert [case.id for case in (*first, *rest)] == [5, 4, 3, 2, 1]


async def test_the_list_stands_in_no_message_that_stays(stage: Stage) -> None:
    await add_cases(stage.log, 1, **of_ann(stage), response="Look it up.")
    direct = stage.slack.workspace.im(stage.ann.id)
    await stage.services.messenger.direct(Recipient(stage.ann.id, ""), help_line("Hello."))
    (message,) = direct.messages.values()
    stage.ann.click(message, ids.ACTION_RECENT_NEWEST)
    assert "Look it up." in shown(await stage.told(stage.ann, channel=stage.ann.im))
    assert "Look it up." not in shown(message)
    stage.slack.fail("response_url", times=2, status=404)
    stage.slack.fail("chat.postEphemeral", times=2, error="user_not_in_channel")
    stage.ann.command(CHANNEL, ids.COMMAND, "recent")
    await stage.slack.until(lambda: len(direct.messages) > 1)
    assert list(direct.messages.values())[-1].text == NOT_SHOWN
