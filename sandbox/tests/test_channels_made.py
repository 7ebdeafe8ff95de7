"""Channels that the app makes and changes."""

from copy import deepcopy
from typing import Any

import pytest

from pocket_slack import Limits, Workspace, methods
from pocket_slack.errors import SlackError
from sandbox.tests.conftest import MANIFEST, Wire, heard, populated

EVENTS = """
channel_archive channel_created channel_left channel_rename member_joined_channel member_left_channel message.channels
"""
Call = Any
Refused = Any


@pytest.fixture
def workspace(clock: Any) -> Workspace:
    manifest = deepcopy(MANIFEST)
    manifest["settings"]["event_subscriptions"]["bot_events"] = EVENTS.split()
    return populated(Workspace(manifest, clock=clock, limits=Limits.off()))


@pytest.fixture
def made(call: Call) -> str:
    """The id of a channel that the app has made."""
    id_: str = call("conversations.create", name="team-1")["channel"]["id"]
    return id_


def test_the_life_of_a_channel_is_told_by_events_and_notices(
    workspace: Workspace, wire: Wire, call: Call
) -> None:
    ann = workspace.user("ann").id
    ben = workspace.user("ben").id
    channel = call("conversations.create", name="team-1")["channel"]
    assert (channel["creator"], channel["is_member"]) == (workspace.bot.id, True)
    at = {"channel": channel["id"]}
    assert call("conversations.invite", **at, users=f"{ann}, {ben}")["channel"]["num_members"] == 3
    assert call("conversations.kick", **at, user=ben)["errors"] == {}
    call("conversations.rename", **at, name="team-2")
    call("conversations.setTopic", **at, topic="Today")
    described = call("conversations.setPurpose", **at, purpose="Work")["channel"]
    assert (described["topic"]["value"], described["purpose"]["value"]) == ("Today", "Work")
    assert call("conversations.setTopic", **at, topic="")["channel"]["topic"]["value"] == ""
    call("conversations.archive", **at)
    told = [event.get("subtype", event["type"]) for event in heard(wire)]
    assert told == [
        "channel_created",
        "member_joined_channel",
        "channel_join",
        "member_joined_channel",
        "channel_join",
        "member_joined_channel",
        "channel_join",
        "member_left_channel",
        "channel_leave",
        "channel_rename",
        "channel_name",
        "channel_topic",
        "channel_purpose",
        "channel_topic",
        "channel_archive",
        "channel_archive",
    ]
    assert heard(wire)[0]["channel"]["name"] == "team-1"
    assert heard(wire)[9]["channel"]["name"] == "team-2"
    assert call("conversations.info", **at)["channel"]["is_archived"]


def test_the_app_leaves_a_channel_once(
    workspace: Workspace, made: str, wire: Wire, call: Call, refused: Refused
) -> None:
    assert refused("conversations.leave", channel=made).code == "last_member"
    call("conversations.invite", channel=made, users=workspace.user("ann").id)
    wire.sent.clear()
    assert call("conversations.leave", channel=made)["ok"]
    assert [event["type"] for event in heard(wire)] == ["channel_left"]
    again = call("conversations.leave", channel=made)
    assert again == {"ok": False, "not_in_channel": True}


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("", "invalid_name_required"),
        ("a" * 81, "invalid_name_maxlength"),
        ("--_", "invalid_name_punctuation"),
        ("Team", "invalid_name_specials"),
        ("a team", "invalid_name_specials"),
        ("help", "name_taken"),
        ("secret", "name_taken"),
    ],
)
def test_a_name_follows_slacks_rules(made: str, refused: Refused, name: str, error: str) -> None:
    assert refused("conversations.create", name=name).code == error
    assert refused("conversations.rename", channel=made, name=name).code == error


@pytest.mark.parametrize(
    ("method", "args", "error"),
    [
        ("invite", {"channel": "help"}, "no_user"),
        ("invite", {"channel": "help", "users": "bot"}, "cant_invite_self"),
        ("invite", {"channel": "help", "users": "ann"}, "already_in_channel"),
        ("invite", {"channel": "help", "users": "U0"}, "user_not_found"),
        ("invite", {"channel": "random", "users": "cat"}, "not_in_channel"),
        ("invite", {"channel": "secret", "users": "ben"}, "channel_not_found"),
        ("kick", {"channel": "help"}, "no_user"),
        ("kick", {"channel": "help", "user": "bot"}, "cant_kick_self"),
        ("kick", {"channel": "help", "user": "U0"}, "user_not_found"),
        ("kick", {"channel": "help", "user": "cat"}, "not_in_channel"),
        ("kick", {"channel": "general", "user": "ann"}, "cant_kick_from_general"),
        ("join", {"channel": "im"}, "method_not_supported_for_channel_type"),
        ("leave", {"channel": "general"}, "cant_leave_general"),
        ("archive", {"channel": "general"}, "cant_archive_general"),
        ("archive", {"channel": "random"}, "not_in_channel"),
        ("archive", {"channel": "im"}, "method_not_supported_for_channel_type"),
        ("rename", {"channel": "help", "name": "other"}, "not_authorized"),
        ("setTopic", {"channel": "help"}, "invalid_arguments"),
        ("setTopic", {"channel": "help", "topic": "a" * 251}, "too_long"),
    ],
)
def test_what_cannot_be_changed_is_refused(
    workspace: Workspace, refused: Refused, method: str, args: dict[str, str], error: str
) -> None:
    ann = workspace.user("ann")
    workspace.add_channel("general", [ann, workspace.bot])
    ids = {"bot": workspace.bot.id, "im": workspace.im(ann.id).id}
    ids |= {user.name: user.id for user in workspace.users.values() if user is not workspace.bot}
    ids |= {channel.name: channel.id for channel in workspace.channels.values()}
    given = {
        key: value if key in ("name", "topic") else ids.get(value, value)
        for key, value in args.items()
    }
    assert refused(f"conversations.{method}", **given).code == error


def test_an_archived_channel_stays_as_it_is(made: str, call: Call, refused: Refused) -> None:
    call("conversations.archive", channel=made)
    assert refused("conversations.archive", channel=made).code == "already_archived"
    for method in ("join", "leave", "setTopic"):
        error = refused(f"conversations.{method}", channel=made, topic="late")
        assert error.code == "is_archived"


def test_force_invites_those_who_can_be(
    workspace: Workspace, made: str, call: Call, refused: Refused
) -> None:
    users = f"U0,{workspace.user('cat').id}"
    errors = [{"user": "U0", "ok": False, "error": "user_not_found"}]
    assert refused("conversations.invite", channel=made, users=users).extra["errors"] == errors
    assert workspace.user("cat").id not in workspace.channels[made].members
    answer = call("conversations.invite", channel=made, users=users, force=True)
    assert answer["errors"] == errors
    assert workspace.user("cat").id in workspace.channels[made].members


@pytest.mark.parametrize(
    ("scope", "is_private"), [("channels:manage", False), ("groups:write", True)]
)
def test_each_kind_of_channel_has_its_scope(clock: Any, scope: str, is_private: bool) -> None:
    workspace = Workspace({"oauth_config": {"scopes": {"bot": [scope]}}}, clock=clock)
    token = workspace.bot_token
    args = {"name": "team", "is_private": is_private}
    channel = methods.call(workspace, "conversations.create", token, args)["channel"]
    assert channel["is_private"] is is_private
    args = {"name": "other", "is_private": not is_private}
    with pytest.raises(SlackError) as caught:
        methods.call(workspace, "conversations.create", token, args)
    assert caught.value.code == "missing_scope"
