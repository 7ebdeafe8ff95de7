"""Delivery of payloads to the app: acks, failures, retries."""

from copy import deepcopy
from typing import Any

import pytest

from pocket_slack import ManualClock, Person, Workspace
from sandbox.tests.conftest import MANIFEST

Wire = Any


def test_a_command_reaches_one_connection_with_everything_slack_documents(
    ann: Person, wire: Wire
) -> None:
    delivery = ann.command("help", "/echo", "a <b>")
    [envelope] = wire.sent
    assert envelope["type"] == "slash_commands"
    assert envelope["accepts_response_payload"] is True
    assert envelope["envelope_id"] == delivery.envelope_id
    payload = envelope["payload"]
    assert payload["text"] == "a <b>"
    assert payload["channel_name"] == "help"
    assert payload["is_enterprise_install"] == "false"
    assert set(payload) == {
        "token", "team_id", "team_domain", "channel_id", "channel_name", "user_id", "user_name", "command", "text",
        "api_app_id", "is_enterprise_install", "response_url", "trigger_id",
    }  # fmt: skip


def test_the_app_does_not_get_the_name_of_a_private_channel(cat: Person, wire: Wire) -> None:
    cat.command("secret", "/echo")
    assert wire.sent[0]["payload"]["channel_name"] == "privategroup"


def test_several_connections_share_the_payloads(
    workspace: Workspace, ann: Person, wire: Wire
) -> None:
    other = type(wire)("other")
    workspace.deliveries.connections.append(other)
    for _ in range(6):
        ann.command("help", "/echo")
    assert (len(wire.sent), len(other.sent)) == (3, 3)


def test_an_ack_in_time_is_measured_and_its_text_is_shown(
    workspace: Workspace, ann: Person, wire: Wire, clock: ManualClock
) -> None:
    delivery = ann.command("help", "/echo")
    clock.advance(0.25)
    workspace.deliveries.ack(delivery.envelope_id, {"text": "on it"})
    assert delivery.acked_ms == 250
    assert [message.text for message in ann.ephemerals("help")] == ["on it"]
    clock.advance(60)
    assert delivery.failure is None


def test_an_ack_can_post_in_the_channel(
    workspace: Workspace, ann: Person, ben: Person, wire: Wire
) -> None:
    delivery = ann.command("help", "/echo")
    workspace.deliveries.ack(
        delivery.envelope_id, {"text": "all hear", "response_type": "in_channel"}
    )
    assert [message.text for message in ben.messages("help")] == ["all hear"]


def test_a_command_without_an_ack_fails_for_its_user_and_is_not_repeated(
    workspace: Workspace, ann: Person, wire: Wire, clock: ManualClock
) -> None:
    delivery = ann.command("help", "/echo")
    clock.advance(2.9)
    assert delivery.failure is None
    clock.advance(0.2)
    assert delivery.failure == "operation_timeout"
    assert [message.text for message in ann.ephemerals("help")] == [
        '/echo failed with the error "operation_timeout"'
    ]
    workspace.deliveries.ack(delivery.envelope_id, {"text": "too late"})
    clock.advance(1000)
    assert len(ann.ephemerals("help")) == 1
    assert len(wire.sent) == 1
    assert workspace.journal.of("ack")[0].data["ignored"] == "late"


def test_an_event_is_sent_again_at_once_after_a_minute_and_after_five(
    ann: Person, wire: Wire, clock: ManualClock
) -> None:
    ann.post("help", "hello")
    sent_after = []
    for second in range(500):
        if len(wire.sent) > len(sent_after):
            sent_after.append(second)
        clock.advance(1)
    assert sent_after == [0, 3, 66, 369]
    assert [envelope["retry_attempt"] for envelope in wire.sent] == [0, 1, 2, 3]
    assert [envelope["retry_reason"] for envelope in wire.sent] == [
        "",
        "timeout",
        "timeout",
        "timeout",
    ]
    assert len({envelope["envelope_id"] for envelope in wire.sent}) == 4
    assert len({envelope["payload"]["event_id"] for envelope in wire.sent}) == 1


def test_an_acknowledged_retry_ends_the_retries(
    workspace: Workspace, ann: Person, wire: Wire, clock: ManualClock
) -> None:
    ann.post("help", "hello")
    clock.advance(3)
    workspace.deliveries.ack(wire.sent[1]["envelope_id"], None)
    clock.advance(1000)
    assert len(wire.sent) == 2


def test_an_event_waits_for_an_app_that_is_not_connected(
    workspace: Workspace, ann: Person, wire: Wire, clock: ManualClock
) -> None:
    workspace.deliveries.connections.clear()
    ann.post("help", "anybody?")
    workspace.deliveries.connections.append(wire)
    clock.advance(3)
    assert [envelope["payload"]["event"]["text"] for envelope in wire.sent] == ["anybody?"]


def test_a_command_without_a_connection_can_be_redelivered(
    workspace: Workspace, ann: Person, wire: Wire
) -> None:
    workspace.deliveries.connections.clear()
    delivery = ann.command("help", "/echo")
    assert delivery.failure == "dispatch_failed"
    workspace.deliveries.connections.append(wire)
    workspace.deliveries.redeliver(delivery)
    workspace.deliveries.ack(delivery.envelope_id, {"text": "here I am"})
    assert (delivery.is_acked, delivery.failure) == (True, None)
    assert [entry.data.get("ignored") for entry in workspace.journal.of("ack")] == [None]
    assert ann.ephemerals("help")[-1].text == "here I am"


def test_a_redelivered_envelope_is_the_same_and_counts_once(
    workspace: Workspace, ann: Person, wire: Wire
) -> None:
    delivery = ann.command("help", "/echo")
    workspace.deliveries.redeliver(delivery)
    assert wire.sent[0] == wire.sent[1]
    for _ in range(2):
        workspace.deliveries.ack(delivery.envelope_id, {"text": "done"})
    assert len(ann.ephemerals("help")) == 1
    assert workspace.journal.of("ack")[1].data["ignored"] == "repeated"


def test_a_message_shortcut_contains_the_whole_message(
    workspace: Workspace, ann: Person, ben: Person, wire: Wire
) -> None:
    parent = ann.post("random", "why?")
    reply = ben.post("random", "because", thread_ts=parent.ts)
    ann.shortcut("echo_this", reply)
    payload = wire.sent[0]["payload"]
    assert payload["type"] == "message_action"
    assert payload["message_ts"] == reply.ts
    assert payload["message"]["thread_ts"] == parent.ts
    assert payload["message"]["text"] == "because"
    assert payload["channel"] == {"id": workspace.channel("random").id, "name": "random"}
    assert payload["user"]["team_id"] == workspace.team_id
    assert payload["enterprise"] is None
    assert {"token", "team", "trigger_id", "response_url", "action_ts", "callback_id"} <= set(
        payload
    )


def test_a_global_shortcut_has_no_channel_and_no_response_url(ann: Person, wire: Wire) -> None:
    ann.shortcut("echo_any")
    assert wire.sent[0]["payload"]["type"] == "shortcut"
    assert not {"channel", "response_url", "message"} & set(wire.sent[0]["payload"])


@pytest.mark.parametrize("subscribed", [True, False])
def test_only_subscribed_events_from_joined_channels_are_sent(
    ann: Person, wire: Wire, subscribed: bool
) -> None:
    ann.post("help" if subscribed else "random", "hello")
    assert len(wire.sent) == int(subscribed)


def test_changes_and_deletions_are_hidden_message_events(ann: Person, wire: Wire) -> None:
    message = ann.post("help", "one")
    ann.edit(message, "two")
    ann.delete(message)
    events = [envelope["payload"]["event"] for envelope in wire.sent]
    assert [event.get("subtype") for event in events] == [
        None,
        "message_changed",
        "message_deleted",
    ]
    assert events[0]["channel_type"] == "channel"
    assert (events[1]["previous_message"]["text"], events[1]["message"]["text"]) == ("one", "two")
    assert events[2]["deleted_ts"] == message.ts


def with_events(clock: ManualClock, wire: Wire, *events: str) -> Workspace:
    """A workspace with one person, and an app with these events and a name of two words."""
    manifest = deepcopy(MANIFEST)
    manifest["features"]["bot_user"]["display_name"] = "Echo Bot"
    manifest["settings"]["event_subscriptions"]["bot_events"] = list(events)
    workspace = Workspace(manifest, clock=clock)
    workspace.add_channel("help", [workspace.add_user("ann"), workspace.bot])
    workspace.deliveries.connections.append(wire)
    workspace.deliveries.is_open = True
    return workspace


def test_a_mention_sends_an_event_and_another_when_it_is_edited(
    clock: ManualClock, wire: Wire
) -> None:
    workspace = with_events(clock, wire, "app_mention")
    ann = Person(workspace, "ann")
    parent = ann.post("help", "why?")
    message = ann.post("help", "well, @Echo Bot?", thread_ts=parent.ts)
    ann.edit(message, "well, @Echo Bot!")
    first, second = [envelope["payload"]["event"] for envelope in wire.sent]
    assert (first["type"], first["text"], first["ts"]) == (
        "app_mention",
        f"well, <@{workspace.bot.id}>?",
        message.ts,
    )
    assert (first["thread_ts"], first["parent_user_id"], first["event_ts"]) == (
        parent.ts,
        ann.id,
        message.ts,
    )
    assert "channel_type" not in first
    assert "edited" not in first
    assert second["edited"]["user"] == ann.id


def test_a_broadcast_reply_can_be_a_mention_and_a_notice_about_the_app_is_not(
    clock: ManualClock, wire: Wire
) -> None:
    workspace = with_events(clock, wire, "app_mention")
    ann = Person(workspace, "ann")
    ann.remove("help", "Echo Bot")
    ann.invite("help", "Echo Bot")
    assert wire.sent == []
    ann.post("help", "and @Echo Bot?", thread_ts=ann.post("help", "why?").ts, is_broadcast=True)
    assert [envelope["payload"]["event"]["type"] for envelope in wire.sent] == ["app_mention"]


def test_a_mention_is_not_sent_again_when_a_reply_is_streamed_into_its_thread(
    clock: ManualClock, wire: Wire
) -> None:
    workspace = with_events(clock, wire, "app_mention")
    helper = Person(workspace, workspace.add_bot("helper").name)
    workspace.channel("help").members.append(helper.id)
    parent = Person(workspace, "ann").post("help", "why, @Echo Bot?")
    helper.stop(helper.stream("help", "Because.", parent.ts))
    assert len(wire.sent) == 1


def test_a_mention_in_a_direct_message_is_an_ordinary_message(
    clock: ManualClock, wire: Wire
) -> None:
    workspace = with_events(clock, wire, "app_mention", "message.im")
    ann = Person(workspace, "ann")
    ann.post(ann.im, "@Echo Bot")
    (event,) = [envelope["payload"]["event"] for envelope in wire.sent]
    assert (event["type"], event["channel_type"]) == ("message", "im")
