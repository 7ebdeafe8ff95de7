"""Messages for later, messages of what the bot does, and its previews of links."""

from copy import deepcopy
from typing import Any

import pytest

from pocket_slack import Limits, ManualClock, Message, Person, Workspace
from pocket_slack.methods.scheduled import FARTHEST_S, NOT_DELETED_S
from pocket_slack.previews import AFTER_S
from sandbox.tests.conftest import MANIFEST, Wire, heard, populated

Call = Any
Refused = Any
PAGE = "https://docs.example.com/a"
OTHER = "https://elsewhere.example/b"


@pytest.fixture
def workspace(clock: ManualClock) -> Workspace:
    manifest = deepcopy(MANIFEST)
    manifest["features"]["unfurl_domains"] = ["example.com"]
    manifest["settings"]["event_subscriptions"]["bot_events"] = ["link_shared", "message.channels"]
    return populated(Workspace(manifest, clock=clock, limits=Limits.off()))


@pytest.fixture
def at(workspace: Workspace) -> dict[str, Any]:
    return {"channel": workspace.channel("help").id}


@pytest.fixture
def linking(workspace: Workspace) -> Message:
    """Ann's message with two links, one of them to the app's domain."""
    return Person(workspace, "ann").post("help", f"See {PAGE} and {OTHER}")


def soon(clock: ManualClock, seconds: float = 600) -> int:
    return int(clock.now() + seconds)


def texts(workspace: Workspace) -> list[str]:
    return [message.text for message in workspace.channel("help").messages.values()]


def test_a_message_for_later_waits_in_the_list_and_comes_in_time(
    workspace: Workspace,
    ann: Person,
    clock: ManualClock,
    wire: Wire,
    at: dict[str, Any],
    call: Call,
) -> None:
    parent = ann.post("help", "ask me later")
    later = {"thread_ts": parent.ts, "post_at": soon(clock)}
    answer = call("chat.scheduleMessage", **at, text="Now?", **later)
    assert answer["message"]["text"] == "Now?"
    [entry] = call("chat.scheduledMessages.list", **at)["scheduled_messages"]
    assert (entry["id"], entry["text"]) == (answer["scheduled_message_id"], "Now?")
    assert call("chat.scheduledMessages.list", latest=soon(clock, 1))["scheduled_messages"] == []
    assert call("chat.scheduledMessages.list", oldest=soon(clock, 900))["scheduled_messages"] == []
    clock.advance(599)
    assert texts(workspace) == ["ask me later"]
    clock.advance(1)
    assert texts(workspace) == ["ask me later", "Now?"]
    assert heard(wire)[-1]["thread_ts"] == parent.ts
    assert call("chat.scheduledMessages.list")["scheduled_messages"] == []


def test_a_message_for_later_is_deleted_until_a_minute_before(
    workspace: Workspace, clock: ManualClock, at: dict[str, Any], call: Call, refused: Refused
) -> None:
    kept, dropped = (
        call("chat.scheduleMessage", **at, text=text, post_at=soon(clock))["scheduled_message_id"]
        for text in ("kept", "dropped")
    )
    random = workspace.channel("random").id
    call("chat.deleteScheduledMessage", **at, scheduled_message_id=dropped)
    for place, id_ in ((at["channel"], dropped), (random, kept)):
        error = refused("chat.deleteScheduledMessage", channel=place, scheduled_message_id=id_)
        assert error.code == "invalid_scheduled_message_id"
    clock.advance(600 - NOT_DELETED_S)
    error = refused("chat.deleteScheduledMessage", **at, scheduled_message_id=kept)
    assert error.code == "invalid_scheduled_message_id"
    clock.advance(NOT_DELETED_S)
    assert texts(workspace) == ["kept"]


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"post_at": "soon"}, "invalid_time"),
        ({"post_at": "1699999999"}, "time_in_past"),
        ({"post_at": str(1_700_000_001 + FARTHEST_S)}, "time_too_far"),
        ({}, "invalid_arguments"),
        ({"post_at": "1700000600", "text": ""}, "no_text"),
        ({"post_at": "1700000600", "channel": "C0"}, "channel_not_found"),
    ],
)
def test_a_wrong_time_is_refused(
    at: dict[str, Any], refused: Refused, args: dict[str, str], error: str
) -> None:
    assert refused("chat.scheduleMessage", **{**at, "text": "later", **args}).code == error


def test_at_most_thirty_messages_wait_for_the_same_five_minutes(
    clock: ManualClock, at: dict[str, Any], call: Call, refused: Refused
) -> None:
    for _ in range(30):
        call("chat.scheduleMessage", **at, text="later", post_at=soon(clock))
    error = refused("chat.scheduleMessage", **at, text="later", post_at=soon(clock, 601))
    assert error.code == "restricted_too_many"
    call("chat.scheduleMessage", **at, text="later", post_at=soon(clock, 900))
    assert refused("chat.scheduledMessages.list", channel="C0").code == "invalid_channel"


def test_what_can_no_longer_be_posted_is_dropped(
    workspace: Workspace, ann: Person, clock: ManualClock, at: dict[str, Any], call: Call
) -> None:
    metadata = {"event_type": "rota", "event_payload": {}}
    call("chat.scheduleMessage", **at, text="a", post_at=soon(clock, 100), metadata=metadata)
    call("chat.scheduleMessage", **at, text="b", post_at=soon(clock, 200))
    clock.advance(150)
    ann.archive("help")
    clock.advance(100)
    assert not {"a", "b"} & set(texts(workspace))
    assert call("chat.scheduledMessages.list")["scheduled_messages"] == []


def test_what_the_bot_does_is_a_message_that_can_be_answered(
    workspace: Workspace, wire: Wire, at: dict[str, Any], call: Call, refused: Refused
) -> None:
    ts = call("chat.meMessage", **at, text="waves")["ts"]
    [event] = heard(wire)
    assert (event["subtype"], event["user"], event["text"]) == (
        "me_message",
        workspace.bot.id,
        "waves",
    )
    call("chat.postMessage", **at, text="and smiles", thread_ts=ts)
    assert len(call("conversations.replies", **at, ts=ts)["messages"]) == 2
    assert refused("chat.meMessage", **at).code == "no_text"
    assert refused("chat.meMessage", **at, text="a" * 40_001).code == "msg_too_long"


def test_the_app_is_told_of_links_to_its_domains(
    ann: Person, wire: Wire, linking: Message, call: Call
) -> None:
    [event] = [event for event in heard(wire) if event["type"] == "link_shared"]
    assert event["links"] == [{"domain": "example.com", "url": PAGE}]
    assert (event["message_ts"], event["is_bot_user_member"]) == (linking.ts, True)
    wire.sent.clear()
    ann.post("random", PAGE)
    call("chat.postMessage", channel=linking.channel_id, text=PAGE)
    ann.post("help", "https://notexample.com and example.com")
    told = [event for event in heard(wire) if event["type"] == "link_shared"]
    assert [event["is_bot_user_member"] for event in told] == [False]


def test_an_apps_preview_takes_the_place_of_slacks_and_of_its_own(
    workspace: Workspace, clock: ManualClock, wire: Wire, linking: Message, call: Call
) -> None:
    [event] = [event for event in heard(wire) if event["type"] == "link_shared"]
    clock.advance(AFTER_S)
    by_id = {"unfurl_id": event["unfurl_id"], "source": event["source"]}
    by_ts = {"channel": linking.channel_id, "ts": linking.ts}
    for text, place in (("first", by_id), ("second", by_ts)):
        assert call("chat.unfurl", **place, unfurls={PAGE: {"text": text}}) == {"ok": True}
        of_slack, own = linking.attachments
        assert (of_slack["original_url"], own["text"]) == (OTHER, text)
        assert (own["is_app_unfurl"], own["app_unfurl_url"]) == (True, PAGE)
        changed = heard(wire)[-1]
        assert (changed["subtype"], changed["message"]["attachments"][1]) == (
            "message_changed",
            own,
        )


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"channel": ""}, "missing_channel"),
        ({"channel": "C0"}, "cannot_find_channel"),
        ({"ts": ""}, "missing_ts"),
        ({"ts": "1.2"}, "cannot_find_message"),
        ({"unfurls": ""}, "missing_unfurls"),
        ({"unfurls": "{"}, "invalid_unfurls_format"),
        ({"unfurls": [PAGE]}, "invalid_unfurls_format"),
        ({"unfurls": {PAGE: "words"}}, "cannot_parse_attachment"),
        ({"unfurls": {OTHER: {}}}, "cannot_unfurl_url"),
        ({"unfurls": {"https://example.com/c": {}}}, "cannot_unfurl_message"),
        ({"unfurls": {PAGE: {"blocks": [{"type": "nothing"}]}}}, "invalid_blocks"),
        ({"unfurl_id": "C0.1.2.3", "source": "composer"}, "invalid_arguments"),
    ],
)
def test_a_preview_is_refused_as_slack_does(
    linking: Message, refused: Refused, args: dict[str, Any], error: str
) -> None:
    good = {"channel": linking.channel_id, "ts": linking.ts, "unfurls": {PAGE: {"text": "A"}}}
    assert refused("chat.unfurl", **{**good, **args}).code == error
