"""A message event becomes the change that it tells of, if it is one that could matter."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from bot.extract.messages import to_message

Raw = dict[str, Any]

# What Slack itself adds to a message for a link in it.
_UNFURLED = ("from_url", "original_url", "is_app_unfurl", "is_msg_unfurl")


@dataclass(frozen=True)
class Change:
    """A message that has other words now; `text` is None where it was deleted."""

    team_id: str
    channel_id: str
    ts: str
    text: str | None


def to_change(body: Raw, own_ids: Collection[str]) -> Change | None:
    """The change behind a message event; None for new messages, previews of links, and messages of our own.

    A deleted parent of a thread is told of as changed into a tombstone.
    Source: https://docs.slack.dev/reference/events/message
    """
    event = body["event"]
    before = event.get("previous_message") or {}
    if {before.get("user"), before.get("bot_id")} & set(own_ids):
        return None
    place = {"team_id": body["team_id"], "channel_id": event.get("channel", "")}
    match event.get("subtype"):
        case "message_deleted":
            return Change(**place, ts=event["deleted_ts"], text=None)
        case "message_changed":
            now = event["message"]
            if now.get("subtype") == "tombstone":
                return Change(**place, ts=now["ts"], text=None)
            if before and _words(before) == _words(now):
                return None
            return Change(**place, ts=now["ts"], text=to_message(now).text)
    return None


def _words(raw: Raw) -> str:
    own = [each for each in raw.get("attachments") or [] if not any(each.get(mark) for mark in _UNFURLED)]
    return to_message(raw | {"attachments": own}).text
