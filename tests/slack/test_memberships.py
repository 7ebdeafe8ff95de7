"""Who is in which channel: asked of Slack once in a while, and never guessed."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.slack.client import SlackClient
from bot.slack.manifest import load_manifest
from bot.slack.members import KEPT_S, Listed, MembershipError, Memberships
from pocket_slack import ManualClock, Sandbox, Workspace
from tests.patience import UNHURRIED


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    workspace = Workspace(load_manifest(), limits=UNHURRIED)
    ann = workspace.add_user("ann")
    ben = workspace.add_user("ben")
    workspace.add_channel("help", [ann, ben, workspace.bot])
    workspace.add_channel("public", [ann])
    workspace.add_channel("leads", [ann, workspace.bot], is_private=True)
    workspace.add_channel("secret", [ann, ben], is_private=True)
    async with Sandbox(workspace) as running:
        yield running


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(0)


@pytest.fixture
def known(slack: Sandbox, clock: ManualClock) -> Memberships:
    client = SlackClient(None, slack.api_url, slack.bot_token)
    return Memberships(client, frozenset({slack.workspace.team_id}), clock.now)


def calls(slack: Sandbox) -> int:
    found = slack.workspace.journal.of("call")
    return len([entry for entry in found if entry.data["method"] == "users.conversations"])


def id_of(slack: Sandbox, name: str) -> str:
    return slack.workspace.user(name).id


async def names(known: Memberships, user_id: str | None = None) -> list[str]:
    return [listed.name for listed in (await known.of(user_id)).values()]


async def test_public_channels_and_shared_private_ones_are_somebodys(
    slack: Sandbox, known: Memberships
) -> None:
    assert await names(known, id_of(slack, "ann")) == ["help", "public", "leads"]
    assert await names(known, id_of(slack, "ben")) == ["help"]
    assert await names(known) == ["help", "leads"]


async def test_group_direct_messages_are_private_channels(
    slack: Sandbox, known: Memberships
) -> None:
    ann = slack.workspace.user("ann")
    group = slack.workspace.add_group([ann, slack.workspace.bot])
    listed = Listed(group.name, is_private=True, is_archived=False)
    assert (await known.of(ann.id))[group.id] == listed


@pytest.mark.parametrize("is_archived", [False, True])
async def test_a_private_channel_that_we_are_in_keeps_out_who_is_not_in_it(
    slack: Sandbox, known: Memberships, is_archived: bool
) -> None:
    slack.person("ben").leave("help")
    channels = [slack.workspace.channel(name) for name in ("help", "leads", "secret")]
    for channel in channels:
        channel.is_archived = is_archived
    for name, outside in (("ben", [False, True, False]), ("ann", [False] * 3)):
        user_id = id_of(slack, name)
        assert [await known.keeps_out(user_id, channel.id) for channel in channels] == outside


async def test_a_public_channel_keeps_out_guests_who_are_not_in_it(
    slack: Sandbox, known: Memberships
) -> None:
    guest = slack.workspace.add_user("guest")
    help_id = slack.workspace.channel("help").id
    guest.is_guest = True
    assert await known.keeps_out(guest.id, help_id)
    slack.person("ann").invite("help", "guest")
    assert not await known.keeps_out(guest.id, help_id)


async def test_an_archived_channel_is_nobodys_but_they_are_still_in_it(
    slack: Sandbox, known: Memberships
) -> None:
    slack.workspace.channel("help").is_archived = True
    ben = id_of(slack, "ben")
    assert await names(known, ben) == []
    assert await known.includes(ben, slack.workspace.channel("help").id)


async def test_an_answer_is_kept_for_minutes_and_no_longer(
    slack: Sandbox, known: Memberships, clock: ManualClock
) -> None:
    ben = id_of(slack, "ben")
    await known.of(ben)
    slack.person("ben").leave("help")
    clock.advance(KEPT_S - 1)
    assert await names(known, ben) == ["help"]
    assert not await known.includes(ben, slack.workspace.channel("help").id)  # is asked anew
    slack.person("ben").join("help")
    await known.now(ben)
    slack.person("ben").leave("help")
    clock.advance(KEPT_S)
    assert await names(known, ben) == []


@pytest.mark.parametrize(
    "fault", [{"error": "missing_scope"}, {"retry_after_s": 30}, {"delay_s": 3}]
)
async def test_where_slack_does_not_say_nothing_is_assumed(
    slack: Sandbox, known: Memberships, clock: ManualClock, fault: dict[str, Any]
) -> None:
    ann = id_of(slack, "ann")
    await known.of(ann)
    clock.advance(KEPT_S)
    slack.fail("users.conversations", **fault)
    with pytest.raises(MembershipError):
        await known.of(ann)
    if "retry_after_s" not in fault:  # then Slack is not asked again so soon
        assert await names(known, ann) == ["help", "public", "leads"]


async def test_more_channels_than_a_page_are_all_there(slack: Sandbox, known: Memberships) -> None:
    ann = slack.workspace.user("ann")
    for number in range(1200):
        slack.workspace.add_channel(f"c{number}", [ann])
    assert len(await known.of(ann.id)) == 1203
    assert calls(slack) == 2
