"""The events that an app gets from its channels: messages of people and other apps, and who joins
and leaves.
"""

from copy import deepcopy
from typing import Any

import aiohttp
import pytest

from pocket_slack import Limits, Person, Sandbox, SandboxError, Workspace
from sandbox.tests.conftest import MANIFEST, Wire, heard, populated

EVENTS = (
    "channel_archive channel_left group_left member_joined_channel member_left_channel "
    "message.channels message.groups"
)
Call = Any
Refused = Any


@pytest.fixture
def workspace(clock: Any) -> Workspace:
    manifest = deepcopy(MANIFEST)
    manifest["settings"]["event_subscriptions"]["bot_events"] = EVENTS.split()
    return populated(Workspace(manifest, clock=clock, limits=Limits.off()))


def test_another_apps_reply_has_no_subtype_and_names_its_app(
    ann: Person, helper: Person, wire: Wire
) -> None:
    parent = ann.post("help", "why?")
    reply = helper.post("help", "because", thread_ts=parent.ts)
    event = heard(wire)[-1]
    assert "subtype" not in event
    assert (event["user"], event["bot_id"], event["app_id"]) == (
        helper.id,
        helper.user.bot_id,
        helper.user.app_id,
    )
    assert event["bot_profile"]["app_id"] == helper.user.app_id
    assert (event["ts"], event["thread_ts"], event["parent_user_id"]) == (
        reply.ts,
        parent.ts,
        parent.author.id,
    )


def test_a_broadcast_reply_includes_its_root(
    help_id: str, ann: Person, wire: Wire, call: Call
) -> None:
    parent = ann.post("help", "why?")
    reply = ann.post("help", "because", thread_ts=parent.ts, is_broadcast=True)
    event = heard(wire)[-1]
    assert event["subtype"] == "thread_broadcast"
    assert (event["root"]["ts"], event["root"]["text"]) == (parent.ts, "why?")
    assert (event["root"]["latest_reply"], event["root"]["reply_count"]) == (reply.ts, 1)
    newest = call("conversations.history", channel=help_id)["messages"][0]
    assert (newest["ts"], newest["root"]["ts"]) == (reply.ts, parent.ts)


def test_a_changed_message_has_the_thread_fields_of_the_history(
    ann: Person, helper: Person, wire: Wire
) -> None:
    parent = ann.post("help", "why?")
    reply = helper.post("help", "...", thread_ts=parent.ts)
    helper.edit(reply, "because")
    ann.edit(parent, "why, please?")
    of_reply, of_parent = heard(wire)[-2:]
    assert of_reply["message"]["parent_user_id"] == ann.id
    assert of_reply["message"]["ts"] == of_reply["previous_message"]["ts"] == reply.ts
    assert of_reply["ts"] == of_reply["event_ts"] != reply.ts
    for side in ("message", "previous_message"):
        assert (of_parent[side]["reply_count"], of_parent[side]["latest_reply"]) == (1, reply.ts)


def test_a_webhooks_message_has_a_name_and_no_user(
    workspace: Workspace, ann: Person, wire: Wire, call: Call
) -> None:
    hook = workspace.add_webhook("github")
    message = Person(workspace, "github").post("help", "Pushing is the answer")
    ann.post("help", "to what?", thread_ts=message.ts)
    first, second = heard(wire)
    assert (first["subtype"], first["bot_id"], first["username"]) == (
        "bot_message",
        hook.bot_id,
        "github",
    )
    assert not {"user", "app_id", "bot_profile", "team"} & set(first)
    assert "parent_user_id" not in second
    assert call("bots.info", bot=hook.bot_id)["bot"]["name"] == "github"
    assert hook.id not in [user["id"] for user in call("users.list")["members"]]
    assert hook.id not in call("conversations.members", channel=message.channel_id)["members"]
    Person(workspace, "github").edit(message, "Merging is")
    assert heard(wire)[-1]["message"]["subtype"] == "bot_message"


@pytest.mark.parametrize("method", ["users.info", "conversations.open", "chat.postMessage"])
def test_a_webhook_is_not_a_user(workspace: Workspace, refused: Refused, method: str) -> None:
    hook = workspace.add_webhook("github").id
    error = refused(method, user=hook, users=hook, channel=hook, text="psst")
    assert error.code in ("user_not_found", "channel_not_found")


def test_joining_and_leaving_send_an_event_and_a_notice(
    help_id: str, ann: Person, cat: Person, wire: Wire, call: Call
) -> None:
    ann.invite("help", "cat")
    cat.leave("help")
    joined, notice, left, farewell = heard(wire)
    assert (joined["type"], joined["user"], joined["inviter"]) == (
        "member_joined_channel",
        cat.id,
        ann.id,
    )
    assert (notice["type"], notice["subtype"], notice["user"]) == (
        "message",
        "channel_join",
        cat.id,
    )
    assert (notice["text"], notice["inviter"]) == (f"<@{cat.id}> has joined the channel", ann.id)
    assert (left["type"], left["user"], left["channel_type"]) == (
        "member_left_channel",
        cat.id,
        "C",
    )
    assert (farewell["subtype"], farewell["text"]) == (
        "channel_leave",
        f"<@{cat.id}> has left the channel",
    )
    assert "inviter" not in farewell
    history = call("conversations.history", channel=help_id)["messages"]
    assert [message["subtype"] for message in history] == ["channel_leave", "channel_join"]


def test_the_notice_of_an_app_that_joins_has_no_bot_fields(
    workspace: Workspace, wire: Wire, call: Call, refused: Refused
) -> None:
    call("conversations.join", channel=workspace.channel("random").id)
    _, notice = heard(wire)
    assert (notice["subtype"], notice["user"]) == ("channel_join", workspace.bot.id)
    error = refused("chat.update", channel=notice["channel"], ts=notice["ts"], text="hello")
    assert error.code == "cant_update_message"
    assert not {"bot_id", "bot_profile", "inviter"} & set(notice)


@pytest.mark.parametrize(("name", "event"), [("help", "channel_left"), ("secret", "group_left")])
def test_an_app_that_is_removed_gets_that_event_and_no_more(
    ann: Person, wire: Wire, name: str, event: str
) -> None:
    if name == "secret":
        ann.invite("secret", "echo")
    wire.sent.clear()
    ann.remove(name, "echo")
    ann.post(name, "alone at last")
    [left] = heard(wire)
    assert (left["type"], left["actor_id"]) == (event, ann.id)
    with pytest.raises(SandboxError, match="echo is not in"):
        ann.remove(name, "echo")


def test_archiving_a_channel_sends_an_event_and_a_notice(ann: Person, wire: Wire) -> None:
    ann.archive("help")
    event, notice = heard(wire)
    assert (event["type"], event["user"]) == ("channel_archive", ann.id)
    assert (notice["subtype"], notice["text"]) == (
        "channel_archive",
        f"<@{ann.id}> archived the channel",
    )
    with pytest.raises(SandboxError, match="archived"):
        ann.post("help", "anybody?")
    ann.archive("help", is_archived=False)
    assert heard(wire)[-1]["subtype"] == "channel_unarchive"
    ann.post("help", "back again")


def test_a_new_name_and_a_new_topic_send_notices(
    help_id: str, ann: Person, wire: Wire, call: Call
) -> None:
    ann.rename("help", "support")
    ann.set_topic("support", "be kind")
    named, about = heard(wire)
    assert (named["subtype"], named["old_name"], named["name"]) == (
        "channel_name",
        "help",
        "support",
    )
    assert named["text"] == f'<@{ann.id}> has renamed the channel from "help" to "support"'
    assert (about["subtype"], about["topic"]) == ("channel_topic", "be kind")
    assert call("conversations.info", channel=help_id)["channel"]["topic"]["value"] == "be kind"


def test_a_notice_has_no_thread_and_cannot_be_edited(
    help_id: str, ann: Person, cat: Person, refused: Refused
) -> None:
    ann.invite("help", "cat")
    [notice] = ann.messages("help")
    assert (
        refused("conversations.replies", channel=help_id, ts=notice.ts).code == "thread_not_found"
    )
    error = refused("chat.postMessage", channel=help_id, thread_ts=notice.ts, text="welcome")
    assert error.code == "cannot_reply_to_message"
    with pytest.raises(SandboxError, match="slackbot's"):
        cat.edit(notice, "I never came")


def test_group_messages_have_no_notices(workspace: Workspace, ann: Person, wire: Wire) -> None:
    group = workspace.add_group([workspace.user("ann"), workspace.user("ben"), workspace.bot])
    ann.invite(group.id, "cat")
    assert group.messages == {}


@pytest.mark.parametrize(
    "event", ["message.channels", "member_joined_channel", "member_left_channel", "channel_archive"]
)
def test_each_event_needs_its_scope(clock: Any, wire: Wire, event: str) -> None:
    scope = "channels:history" if event == "message.channels" else "channels:read"
    for scopes, is_heard in (([scope], True), (["chat:write"], False)):
        manifest = {
            "oauth_config": {"scopes": {"bot": scopes}},
            "settings": {"event_subscriptions": {"bot_events": [event]}},
        }
        workspace = populated(Workspace(manifest, clock=clock))
        wire.sent.clear()
        workspace.deliveries.connections.append(wire)
        workspace.deliveries.is_open = True
        ann = Person(workspace, "ann")
        ann.invite("help", "cat")
        ann.remove("help", "cat")
        ann.archive("help")
        assert (
            event.removesuffix(".channels") in {found["type"] for found in heard(wire)}
        ) is is_heard


async def test_people_can_do_all_that_over_http(slack: Sandbox) -> None:
    async with aiohttp.ClientSession() as session:
        for verb, body in (
            ("invite", {"channel": "help", "user": "cat"}),
            ("remove", {"channel": "help", "user": "cat"}),
            ("set_topic", {"channel": "help", "topic": "be kind"}),
            ("rename", {"channel": "help", "name": "support"}),
            ("archive", {"channel": "support"}),
        ):
            url = f"{slack.url}/sandbox/people/ann/{verb}"
            async with session.post(url, json=body) as answer:
                assert answer.status == 200, await answer.text()
    subtypes = [message.subtype for message in slack.person("ann").messages("support")]
    assert subtypes == [
        "channel_join",
        "channel_leave",
        "channel_topic",
        "channel_name",
        "channel_archive",
    ]
