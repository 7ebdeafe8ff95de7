"""What the app keeps at the top of a channel."""

from copy import deepcopy
from typing import Any

import pytest

from pocket_slack import Limits, Message, Person, Workspace
from sandbox.tests.conftest import MANIFEST, Wire, heard, populated

Call = Any
Refused = Any
LINK = {"title": "Rota", "type": "link", "link": "https://example.com/rota"}


@pytest.fixture
def workspace(clock: Any) -> Workspace:
    manifest = deepcopy(MANIFEST)
    manifest["settings"]["event_subscriptions"]["bot_events"] = ["pin_added", "pin_removed"]
    return populated(Workspace(manifest, clock=clock, limits=Limits.off()))


@pytest.fixture
def message(workspace: Workspace) -> Message:
    return Person(workspace, "ann").post("help", "read this first")


@pytest.fixture
def item(message: Message) -> dict[str, str]:
    return {"channel": message.channel_id, "timestamp": message.ts}


def test_a_pin_is_shown_and_told_until_it_is_removed(
    workspace: Workspace, message: Message, item: dict[str, str], wire: Wire, call: Call
) -> None:
    channel = message.channel_id
    call("pins.add", **item)
    [pin] = call("pins.list", channel=channel)["items"]
    assert (pin["created_by"], pin["message"]["pinned_to"]) == (workspace.bot.id, [channel])
    history = call("conversations.history", channel=channel)
    assert (history["pin_count"], "pinned_info" in history["messages"][0]) == (1, True)
    call("pins.remove", **item)
    assert call("pins.list", channel=channel)["items"] == []
    added, removed = heard(wire)
    assert (added["type"], added["pin_count"], added["item_user"]) == (
        "pin_added",
        1,
        message.author.id,
    )
    assert added["item"] == pin
    assert (removed["type"], removed["has_pins"]) == ("pin_removed", False)


def test_a_pin_goes_with_its_message(
    ann: Person, message: Message, item: dict[str, str], call: Call
) -> None:
    ann.post("help", "a reply, so that a tombstone stays", thread_ts=message.ts)
    call("pins.add", **item)
    ann.delete(message)
    assert call("pins.list", channel=message.channel_id)["items"] == []


def test_pins_are_refused_as_slack_does(
    workspace: Workspace, ann: Person, item: dict[str, str], call: Call, refused: Refused
) -> None:
    assert refused("pins.remove", **item).code == "no_pin"
    call("pins.add", **item)
    assert refused("pins.add", **item).code == "already_pinned"
    assert refused("pins.add", channel=item["channel"]).code == "no_item_specified"
    assert refused("pins.list", channel=workspace.channel("random").id).code == "not_in_channel"
    ann.invite("help", "cat")
    notice = ann.messages("help")[-1]
    error = refused("pins.add", channel=item["channel"], timestamp=notice.ts)
    assert error.code == "not_pinnable"


def test_bookmarks_are_listed_until_there_are_too_many(
    help_id: str, call: Call, refused: Refused
) -> None:
    at = {"channel_id": help_id}
    bookmark = call("bookmarks.add", **at, **LINK, emoji=":calendar:")["bookmark"]
    assert (bookmark["title"], bookmark["emoji"]) == ("Rota", ":calendar:")
    assert call("bookmarks.list", **at)["bookmarks"] == [bookmark]
    for _ in range(99):
        call("bookmarks.add", **at, **LINK)
    assert refused("bookmarks.add", **at, **LINK).code == "too_many_bookmarks"


@pytest.mark.parametrize(
    ("channel", "args", "error"),
    [
        ("help", {"title": ""}, "invalid_arguments"),
        ("help", {"type": "file"}, "invalid_bookmark_type"),
        ("help", {"link": "example.com"}, "invalid_link"),
        ("help", {"emoji": "calendar"}, "invalid_emoji"),
        ("random", {}, "permission_denied"),
        ("secret", {}, "channel_not_found"),
    ],
)
def test_a_bookmark_is_refused_as_slack_does(
    workspace: Workspace, refused: Refused, channel: str, args: dict[str, str], error: str
) -> None:
    at = {"channel_id": workspace.channel(channel).id}
    assert refused("bookmarks.add", **{**at, **LINK, **args}).code == error
