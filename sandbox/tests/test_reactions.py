"""Reactions to messages, by the app and by people."""

from copy import deepcopy
from typing import Any

import aiohttp
import pytest

from pocket_slack import (
    Limits,
    Message,
    Person,
    Sandbox,
    SandboxError,
    SlackError,
    Workspace,
    methods,
)
from sandbox.tests.conftest import MANIFEST, Wire, heard, populated

Call = Any
Refused = Any


@pytest.fixture
def workspace(clock: Any) -> Workspace:
    manifest = deepcopy(MANIFEST)
    manifest["settings"]["event_subscriptions"]["bot_events"] = [
        "reaction_added",
        "reaction_removed",
    ]
    return populated(Workspace(manifest, clock=clock, limits=Limits.off()))


@pytest.fixture
def message(workspace: Workspace) -> Message:
    return Person(workspace, "ann").post("help", "done?")


@pytest.fixture
def item(message: Message) -> dict[str, str]:
    return {"channel": message.channel_id, "timestamp": message.ts}


def test_reactions_are_counted_by_name_wherever_the_message_is_shown(
    workspace: Workspace, ben: Person, message: Message, item: dict[str, str], call: Call
) -> None:
    channel = message.channel_id
    assert call("reactions.add", **item, name="white_check_mark") == {"ok": True}
    ben.react(message, "white_check_mark")
    ben.react(message, "+1::skin-tone-3")
    expected = [
        {"name": "white_check_mark", "users": [workspace.bot.id, ben.id], "count": 2},
        {"name": "+1::skin-tone-3", "users": [ben.id], "count": 1},
    ]
    got = call("reactions.get", **item)
    assert (got["type"], got["channel"], got["message"]["reactions"]) == (
        "message",
        channel,
        expected,
    )
    assert (
        got["message"]["permalink"]
        == call("chat.getPermalink", channel=channel, message_ts=message.ts)["permalink"]
    )
    assert call("conversations.history", channel=channel)["messages"][0]["reactions"] == expected
    call("reactions.remove", **item, name="white_check_mark")
    ben.unreact(message, "+1::skin-tone-3")
    assert call("reactions.get", **item)["message"]["reactions"] == [
        expected[0] | {"users": [ben.id], "count": 1}
    ]
    ben.unreact(message, "white_check_mark")
    assert "reactions" not in call("reactions.get", **item)["message"]


def test_reactions_of_a_person_are_listed_where_the_app_is(
    ann: Person, message: Message, call: Call, refused: Refused
) -> None:
    elsewhere = ann.post("random", "where the app is not")
    reply = ann.post("help", "yes", thread_ts=message.ts)
    ann.post("help", "without a reaction")
    for each in (elsewhere, message, reply):
        ann.react(each, "eyes")
    items = call("reactions.list", user=ann.id)["items"]
    assert [each["message"]["ts"] for each in items] == [reply.ts, message.ts]
    assert call("reactions.list")["items"] == []
    assert refused("reactions.list", user="U0").code == "user_not_found"


def test_the_workspaces_own_emoji_are_listed(workspace: Workspace, call: Call) -> None:
    workspace.emoji["party"] = "https://example.com/party.gif"
    assert call("emoji.list")["emoji"] == {"party": "https://example.com/party.gif"}


def test_a_reaction_sends_an_event_that_only_names_the_message(
    ben: Person, message: Message, wire: Wire
) -> None:
    ben.react(message, "eyes")
    ben.unreact(message, "eyes")
    added, removed = heard(wire)
    item = {
        "type": "message",
        "channel": message.channel_id,
        "ts": message.ts,
        "channel_type": "channel",
    }
    expected = {"user": ben.id, "reaction": "eyes", "item_user": message.author.id, "item": item}
    for event, kind in ((added, "reaction_added"), (removed, "reaction_removed")):
        assert {key: value for key, value in event.items() if key != "event_ts"} == expected | {
            "type": kind
        }
    assert message.ts < added["event_ts"] < removed["event_ts"]


def test_a_reaction_to_a_webhooks_message_has_no_item_user(
    workspace: Workspace, ben: Person, wire: Wire
) -> None:
    workspace.add_webhook("github")
    ben.react(Person(workspace, "github").post("help", "pushed"), "tada")
    [event] = heard(wire)
    assert "item_user" not in event


def test_the_apps_own_reaction_sends_an_event_too(
    workspace: Workspace, item: dict[str, str], wire: Wire, call: Call
) -> None:
    call("reactions.add", **item, name="eyes")
    assert [event["user"] for event in heard(wire)] == [workspace.bot.id]


@pytest.mark.parametrize(
    ("method", "args", "error"),
    [
        ("reactions.add", {"name": "eyes"}, "already_reacted"),
        ("reactions.remove", {"name": "tada"}, "no_reaction"),
        ("reactions.add", {"name": ":eyes:"}, "invalid_name"),
        ("reactions.add", {}, "invalid_arguments"),
        ("reactions.add", {"name": "tada", "timestamp": "1.0"}, "message_not_found"),
        ("reactions.add", {"name": "tada", "timestamp": "yesterday"}, "bad_timestamp"),
        ("reactions.remove", {"name": "eyes", "timestamp": None}, "no_item_specified"),
        ("reactions.add", {"name": "tada", "channel": "C0"}, "channel_not_found"),
    ],
)
def test_an_invalid_reaction_is_refused(
    item: dict[str, str],
    call: Call,
    refused: Refused,
    method: str,
    args: dict[str, Any],
    error: str,
) -> None:
    call("reactions.add", **item, name="eyes")
    assert refused(method, **(item | args)).code == error


def test_reactions_need_membership_and_a_channel_that_is_not_archived(
    ann: Person, refused: Refused
) -> None:
    elsewhere = ann.post("random", "hello")
    error = refused(
        "reactions.add", channel=elsewhere.channel_id, timestamp=elsewhere.ts, name="eyes"
    )
    assert error.code == "not_in_channel"
    here = ann.post("help", "hello")
    ann.archive("help")
    error = refused("reactions.add", channel=here.channel_id, timestamp=here.ts, name="eyes")
    assert error.code == "is_archived"


def test_reactions_are_limited_per_message_and_per_person(
    workspace: Workspace, ann: Person, message: Message, item: dict[str, str], refused: Refused
) -> None:
    for index in range(50):
        Person(workspace, ("ann", "ben", "helper")[index // 20]).react(message, f"emoji-{index}")
    assert refused("reactions.add", **item, name="one-too-many").code == "too_many_emoji"
    for index in range(3):
        ann.react(message, f"emoji-{20 + index}")
    with pytest.raises(SandboxError, match="ann cannot react with 'emoji-30': too_many_reactions"):
        ann.react(message, "emoji-30")


@pytest.mark.parametrize("method", ["reactions.add", "reactions.remove", "reactions.get"])
def test_reactions_have_scopes_of_their_own(clock: Any, method: str) -> None:
    workspace = Workspace({"oauth_config": {"scopes": {"bot": ["chat:write"]}}}, clock=clock)
    with pytest.raises(SlackError) as caught:
        methods.call(workspace, method, workspace.bot_token, {})
    assert caught.value.extra["needed"] == (
        "reactions:read" if method.endswith("get") else "reactions:write"
    )


def test_the_events_need_the_scope_to_read(clock: Any, wire: Wire) -> None:
    manifest = deepcopy(MANIFEST)
    manifest["settings"]["event_subscriptions"]["bot_events"] = ["reaction_added"]
    manifest["oauth_config"]["scopes"]["bot"].remove("reactions:read")
    workspace = populated(Workspace(manifest, clock=clock))
    workspace.deliveries.connections.append(wire)
    workspace.deliveries.is_open = True
    Person(workspace, "ben").react(Person(workspace, "ann").post("help", "done?"), "eyes")
    assert wire.sent == []


async def test_people_can_react_over_http(slack: Sandbox) -> None:
    message = slack.person("ann").post("help", "done?")
    body = {"channel": "help", "ts": message.ts, "name": "eyes"}
    async with aiohttp.ClientSession(f"{slack.url}/sandbox/people/ben/") as session:
        async with session.post("react", json=body) as answer:
            assert answer.status == 200
        assert list(message.reactions) == ["eyes"]
        async with session.post("react", json=body) as answer:
            assert "already_reacted" in (await answer.json())["error"]
        async with session.post("unreact", json=body) as answer:
            assert answer.status == 200
    assert message.reactions == {}
