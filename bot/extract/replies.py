"""A message event becomes the reply that it tells of, if a bot wrote it."""

from typing import Any

from bot.domain.case import text_hash
from bot.domain.watch import SeenReply
from bot.extract.messages import to_message

Raw = dict[str, Any]

# All others are Slack's own notices, such as joins.
_REPLIES = {None, "bot_message", "file_share", "thread_broadcast"}
_IN_PROGRESS = "in_progress"


def author_of(event: Raw) -> str | None:
    """Who wrote the message that an event tells of; None where no bot did, or where there is nothing to read."""
    raw = _message_of(event)
    if raw.get("subtype") not in _REPLIES or not raw.get("bot_id"):
        return None
    return str(raw.get("user") or raw["bot_id"])


def to_reply(team_id: str, event: Raw) -> SeenReply:
    """The reply as it is now, by an event that has an author.

    Source: https://docs.slack.dev/reference/events/message
    """
    return seen_reply(team_id, event.get("channel", ""), _message_of(event))


def seen_reply(team_id: str, channel_id: str, raw: Raw) -> SeenReply:
    """The same for a message of `conversations.*`."""
    message = to_message(raw)
    is_written = message.streaming != _IN_PROGRESS
    words = text_hash(message.text) if is_written else None
    return SeenReply(team_id, channel_id, message.ts, message.author_id or "", message.parent_ts, words)


def _message_of(event: Raw) -> Raw:
    return event["message"] if event.get("subtype") == "message_changed" else event
