"""Which message events tell of other words, and which of nothing that matters."""

from typing import Any

from bot.slack.messages import Change, to_change
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


def test_other_words_are_a_change() -> None:
    assert to_change(changed(BEFORE | {"text": "two &amp; three"}), OWN) == Change(
        "1.1", "two & three"
    )


def test_other_blocks_are_a_change() -> None:
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "two"}}]
    assert to_change(changed(BEFORE | {"text": "one", "blocks": blocks}), OWN) == Change(
        "1.1", "two"
    )


def test_a_deleted_message_is_a_change_without_text() -> None:
    deleted = body(subtype="message_deleted", deleted_ts="1.1", previous_message=BEFORE)
    assert to_change(deleted, OWN) == Change("1.1", None)


def test_a_tombstone_is_a_deleted_message() -> None:
    assert to_change(changed(TOMBSTONE), OWN) == Change("1.1", None)


def test_a_change_without_the_earlier_message_is_a_change() -> None:
    event = body(subtype="message_changed", message=BEFORE)
    assert to_change(event, OWN) == Change("1.1", "one")


@each(
    "event",
    [
        body(text="new", user="U1"),
        body(subtype="channel_join", user="U1"),
        body(subtype="message_replied", message=BEFORE),
        changed(BEFORE | {"attachments": [PREVIEW]}),
        changed(BEFORE, before=BEFORE | {"attachments": [PREVIEW]}),
        changed(BEFORE | {"edited": {"user": "U1", "ts": "2.2"}, "reply_count": 3}),
        changed(BEFORE | {"text": "two", "bot_id": "B0BOT"}, before=BEFORE | {"bot_id": "B0BOT"}),
        changed(TOMBSTONE, before=BEFORE | {"user": "U0BOT"}),
        body(
            subtype="message_deleted", deleted_ts="1.1", previous_message=BEFORE | {"user": "U0BOT"}
        ),
    ],
)
def test_other_events_are_no_change(event: dict[str, Any]) -> None:
    assert to_change(event, OWN) is None
