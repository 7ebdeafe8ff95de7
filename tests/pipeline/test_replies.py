"""Which message events tell of a reply that a watch may take."""

from typing import Any

import pytest

from bot.features.watch.watcher import author_of, to_reply

EVENT: dict[str, Any] = {
    "type": "message",
    "channel": "C1",
    "user": "U1",
    "bot_id": "B1",
    "text": "Here is the chart.",
    "ts": "1795366884.118075",
    "thread_ts": "1795366880.000001",
}


@pytest.mark.parametrize("subtype", [None, "thread_broadcast", "file_share"])
def test_what_a_bot_writes_is_a_reply_also_where_a_file_comes_with_it(subtype: str | None) -> None:
    event = EVENT | {"subtype": subtype, "files": [{"id": "F1"}]}
    assert author_of(event) == "U1"
    assert to_reply("T1", event) == to_reply("T1", EVENT)


@pytest.mark.parametrize("subtype", ["channel_join", "pinned_item", "message_deleted", "message_replied"])
def test_notices_are_nobodys_reply(subtype: str) -> None:
    assert author_of(EVENT | {"subtype": subtype}) is None


def test_an_edit_is_by_who_wrote_the_message() -> None:
    edit = {"type": "message", "subtype": "message_changed", "channel": "C1", "ts": "1795366999.000001"}
    assert author_of(edit | {"message": EVENT | {"subtype": "file_share"}}) == "U1"


def test_a_webhook_is_known_by_its_bot() -> None:
    assert author_of({"subtype": "bot_message", "bot_id": "B1", "text": "Done.", "ts": "1.000001"}) == "B1"
