"""Which message events tell of other words, and which of nothing that matters."""

from typing import Any

from bot.slack.messages import MessageChange, to_change
from tests.tables import each

OWN = frozenset({"U0BOT", "B0BOT"})
BEFORE = {"type": "message", "ts": "1.1", "user": "U1", "text": "one"}
TOMBSTONE = {
    "subtype": "tombstone",
    "ts": "1.1",
    "user": "USLACKBOT",
    "text": "This message was deleted.",
}
PREVIEW = {"from_url": "https://example.org", "title": "Example"}


def body(**event: Any) -> dict[str, Any]:
    return {"team_id": "T1", "event": {"type": "message", "channel": "C1", "ts": "9.9", **event}}


def changed(now: dict[str, Any], before: dict[str, Any] | None = None) -> dict[str, Any]:
    return body(subtype="message_changed", message=now, previous_message=before or BEFORE)


@each(
    ("event", "text"),
    [
        (changed(BEFORE | {"text": "two &amp; three"}), "two & three"),
        (body(subtype="message_deleted", deleted_ts="1.1", previous_message=BEFORE), None),
        (changed(TOMBSTONE), None),
        (body(subtype="message_changed", message=BEFORE), "one"),
    ],
)
def test_other_words_are_a_change_and_a_deletion_is_one_without_text(
    event: dict[str, Any], text: str | None
) -> None:
    assert to_change(event, OWN) == MessageChange("1.1", text)


@each(
    "event",
    [
        body(text="new", user="U1"),
        body(subtype="message_replied", message=BEFORE),
        changed(BEFORE | {"attachments": [PREVIEW]}),
        changed(BEFORE | {"text": "two", "bot_id": "B0BOT"}, before=BEFORE | {"bot_id": "B0BOT"}),
        body(
            subtype="message_deleted", deleted_ts="1.1", previous_message=BEFORE | {"user": "U0BOT"}
        ),
    ],
)
def test_other_events_are_no_change(event: dict[str, Any]) -> None:
    assert to_change(event, OWN) is None
