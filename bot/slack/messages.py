"""Slack's messages, links to them, their changes and reactions, as the app sees them."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import parse_qs

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.blocker import NO_TEXT, UNREADABLE
from bot.domain.label import Reaction
from bot.slack.message_text import ODD, Raw, Read, read
from bot.slack.mrkdwn import emoji_of

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Message:
    """A message as the judge sees it; times are Slack's `ts` strings.

    `text` is what can be judged: "" with a blocker if there is nothing but pictures, files and the
    like, which `read` names and counts.
    """

    ts: str
    parent_ts: str | None
    author_id: str | None
    subtype: str | None
    text: str
    blocker: str | None
    is_bots: bool = False
    streaming: str | None = None  # Slack's state of a streamed message
    edited_ts: str | None = None
    begins_thread: bool = False
    read: Read = field(default_factory=Read)

    @property
    def is_unfinished(self) -> bool:
        """Whether it is still being written: streamed, or with a step to be done."""
        return self.streaming == "in_progress" or self.read.is_unfinished

    @property
    def thread_ts(self) -> str:
        return self.parent_ts or self.ts


def to_message(raw: Raw) -> Message:
    """A message from a payload or from `conversations.*`, with its readable text."""
    parent_ts = raw.get("thread_ts")
    try:
        found = read(raw)
        blocker = None if found.has_words else NO_TEXT
    except ODD as exc:  # such a message must not keep the others from being read
        logger.warning("message_unreadable", ts=raw["ts"], error=type(exc).__name__)
        found = Read()
        blocker = UNREADABLE
    return Message(
        ts=raw["ts"],
        parent_ts=parent_ts if parent_ts != raw["ts"] else None,
        author_id=raw.get("user") or raw.get("bot_id"),
        subtype=raw.get("subtype"),
        text=found.text if found.has_words else "",
        blocker=blocker,
        is_bots=bool(raw.get("bot_id")),
        streaming=raw.get("streaming_state"),
        edited_ts=(raw.get("edited") or {}).get("ts"),
        begins_thread=parent_ts == raw["ts"],
        read=found,
    )


_LINK = re.compile(r"https?://[^/?#\s]+/archives/([CDG][A-Z0-9]+)/p(\d{10})(\d{6})/?(?:\?(\S*))?")


@dataclass(frozen=True)
class Permalink:
    """Where a message link points; `parent_ts` is set if the message is a reply in a thread."""

    channel_id: str
    message_ts: str
    parent_ts: str | None


def parse_permalink(text: str) -> Permalink | None:
    """The message that the link points to if the text is nothing but a message link; None
    otherwise.

    Source: https://docs.slack.dev/reference/methods/chat.getPermalink
    """
    link = text.strip().removeprefix("<").removesuffix(">").partition("|")[0].replace("&amp;", "&")
    match = _LINK.fullmatch(link)
    if not match:
        return None
    ts = f"{match[2]}.{match[3]}"
    parent = parse_qs(match[4] or "").get("thread_ts", [None])[0]
    return Permalink(match[1], ts, parent if parent != ts else None)


class MessageChange(NamedTuple):
    """The message whose words have changed, and what they are now: None if it was deleted."""

    ts: str
    text: str | None


def to_change(body: Raw, own_ids: Collection[str]) -> MessageChange | None:
    """The change in a message event; None for new messages, previews of links, and our own
    messages.

    A deleted parent of a thread is reported as changed into a tombstone.
    Source: https://docs.slack.dev/reference/events/message
    """
    event = body["event"]
    before = event.get("previous_message") or {}
    if {before.get("user"), before.get("bot_id")} & set(own_ids):
        return None
    match event.get("subtype"):
        case "message_deleted":
            return MessageChange(event["deleted_ts"], None)
        case "message_changed":
            now = event["message"]
            if now.get("subtype") == "tombstone":
                return MessageChange(now["ts"], None)
            text = to_message(now).text
            return (
                None
                if before and to_message(before).text == text
                else MessageChange(now["ts"], text)
            )
    return None


def to_metadata(event: str, payload: Raw) -> Raw:
    """The metadata by which `find_marked` finds a message."""
    return {"event_type": event, "event_payload": payload}


async def find_marked(
    client: AsyncWebClient,
    channel: str,
    metadata: Raw,
    oldest: float,
    thread_ts: str | None = None,
) -> str | None:
    """The ts of the message with this metadata in a channel or thread, not older than `oldest`
    (epoch s), or None.
    """
    span: Raw = {"oldest": f"{oldest:.6f}", "include_all_metadata": True, "limit": 200}
    if thread_ts:
        pages = await client.conversations_replies(channel=channel, ts=thread_ts, **span)
    else:
        pages = await client.conversations_history(channel=channel, **span)
    async for page in pages:
        for message in page.get("messages") or []:
            found = message.get("metadata") or {}
            if all(found.get(key) == value for key, value in metadata.items()):
                return str(message["ts"])
    return None


_REQUEST = re.compile(r"\bscore\s+this\b", re.IGNORECASE)


def is_said_to(own_id: str, text: str) -> bool:
    name = f"@{own_id}"
    return text.startswith(name) or (name in text and asks_for_score(text))


def asks_for_score(text: str) -> bool:
    return _REQUEST.search(text) is not None


ADDED = "reaction_added"
REMOVED = "reaction_removed"
CHANGES = {"message_changed", "message_deleted"}
CHANNELS = {"channel", "group", "mpim"}


def to_reaction(body: Raw) -> Reaction | None:
    """The reaction in an event, or None if it is not on a message.

    Source: https://docs.slack.dev/reference/events/reaction_added,
    https://docs.slack.dev/reference/events/reaction_removed
    """
    event = body["event"]
    item = event.get("item") or {}
    if item.get("type") != "message":
        return None
    return Reaction(
        team_id=body["team_id"],
        channel_id=item["channel"],
        ts=item["ts"],
        author_id=event.get("item_user"),
        user_id=event["user"],
        emoji=emoji_of(event["reaction"]),
        is_added=event["type"] == ADDED,
        at=datetime.fromtimestamp(float(event["event_ts"]), UTC),
        is_shared=bool(body.get("is_ext_shared_channel")),
    )
