"""Converts a Slack message to the text that a person reads in it.

Bots often write only blocks, with a stub or nothing in `text`, so blocks are read first. If there is no text, a blocker
names what cannot be read (images, files, unknown blocks).
Source: https://docs.slack.dev/reference/block-kit/blocks
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.blocker import NO_TEXT, ONLY_IMAGE, UNREADABLE
from bot.domain.label import Reaction
from bot.slack.mrkdwn import clean, emoji_of, linked, to_date, to_plain

Raw = dict[str, Any]

# What reading a malformed message raises; such a message must not keep the others from being read.
_ODD = (AttributeError, TypeError, ValueError)
_SILENT_BLOCKS = {"divider", "actions", "context_actions", "input"}

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Message:
    """A message as the judge sees it; times are Slack's `ts` strings."""

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

    @property
    def thread_ts(self) -> str:
        return self.parent_ts or self.ts


def to_message(raw: Raw) -> Message:
    """A message from a payload or from `conversations.*`, with its readable text."""
    parent_ts = raw.get("thread_ts")
    try:
        text = clean("\n".join(part for part in _texts(raw) if part.strip())).strip()
        blocker = None if text else _blocker(raw)
    except _ODD as exc:
        logger.warning("message_unreadable", ts=raw["ts"], error=type(exc).__name__)
        text, blocker = "", UNREADABLE
    return Message(
        ts=raw["ts"],
        parent_ts=parent_ts if parent_ts != raw["ts"] else None,
        author_id=raw.get("user") or raw.get("bot_id"),
        subtype=raw.get("subtype"),
        text=text,
        blocker=blocker,
        is_bots=bool(raw.get("bot_id")),
        streaming=raw.get("streaming_state"),
        edited_ts=edited.get("ts") if isinstance(edited := raw.get("edited"), dict) else None,
        begins_thread=parent_ts == raw["ts"],
    )


def _blocker(raw: Raw) -> str:
    files = raw.get("files") or []
    if files:
        what = "a file" if len(files) == 1 else f"{len(files)} files"
        return f"That message contains only {what}, and I score text."
    kinds = {block.get("type") for block in raw.get("blocks") or []}
    if "image" in kinds or any("image_url" in a for a in raw.get("attachments") or []):
        return ONLY_IMAGE
    unread = sorted(str(kind) for kind in kinds - _SILENT_BLOCKS)
    return f"That message contains only a {' and a '.join(unread)}, and I score text." if unread else NO_TEXT


def _texts(raw: Raw) -> Iterator[str]:
    blocks = "\n".join(text for block in raw.get("blocks") or [] for text in block_texts(block) if text)
    yield blocks if blocks.strip() else to_plain(raw.get("text") or "")
    for attachment in raw.get("attachments") or []:
        if attachment.get("is_share"):
            yield f"[shared message: {''.join(_attachment(attachment))}]"
        elif not any(attachment.get(mark) for mark in _UNFURLED):
            yield from _attachment(attachment)


# Marks of an attachment that Slack itself added for a link in the message: its words are somebody else's.
_UNFURLED = ("from_url", "original_url", "is_app_unfurl", "is_msg_unfurl")


def _attachment(raw: Raw) -> Iterator[str]:
    before = [to_plain(raw.get(key) or "") for key in ("pretext", "title", "text")]
    fields = [f"{to_plain(f.get('title') or '')}: {to_plain(f.get('value') or '')}" for f in raw.get("fields") or []]
    blocks = [text for block in raw.get("blocks") or [] for text in block_texts(block)]
    found = [text for text in (*before, *fields, *blocks) if text.strip()]
    yield "\n".join(found) if found else to_plain(raw.get("fallback") or "")


def block_texts(block: Raw) -> Iterator[str]:
    """The texts in a block, in reading order; none if it has no words."""
    match block.get("type"):
        case "section":
            yield _text_object(block.get("text"))
            for field in block.get("fields") or []:
                yield _text_object(field)
        case "header":
            yield _text_object(block.get("text"))
        case "context":
            yield " ".join(_text_object(e) for e in block.get("elements") or [] if e.get("type") != "image")
        case "markdown":
            yield str(block.get("text") or "")
        case "rich_text":
            for part in block.get("elements") or []:
                yield _rich_part(part)
        case "table" | "data_table":
            for row in block.get("rows") or []:
                yield " | ".join(_cell(cell) for cell in row)


def _text_object(raw: Raw | str | None) -> str:
    return raw if isinstance(raw, str) else to_plain((raw or {}).get("text") or "")


def _cell(cell: Raw) -> str:
    if cell.get("type") == "rich_text":
        return " ".join(block_texts(cell))
    return str(cell.get("text", cell.get("value", "")))


_DEEPEST = 8  # https://docs.slack.dev/reference/block-kit/blocks/rich-text-block


def _rich_part(part: Raw) -> str:
    elements = part.get("elements") or []
    if part.get("type") == "rich_text_list":
        numbered = part.get("style") == "ordered"
        start = int(part.get("offset") or 0) + 1
        indent = "  " * min(int(part.get("indent") or 0), _DEEPEST)
        marks = (f"{n}." if numbered else "-" for n in range(start, start + len(elements)))
        return "\n".join(f"{indent}{mark} {_rich_part(item)}" for mark, item in zip(marks, elements, strict=True))
    text = "".join(_rich_element(element) for element in elements)
    if part.get("type") == "rich_text_preformatted":
        return f"```\n{text}\n```"
    if part.get("type") == "rich_text_quote":
        return "\n".join(f"> {line}" for line in text.splitlines())
    return text


def _rich_element(element: Raw) -> str:
    match element.get("type"):
        case "text":
            return str(element.get("text", ""))
        case "link":
            return linked(element.get("url", ""), element.get("text") or "")
        case "emoji":
            return f":{element.get('name', '')}:"
        case "user":
            return f"@{element.get('user_id', '')}"
        case "channel":
            return f"#{element.get('channel_id', '')}"
        case "usergroup":
            return f"@{element.get('usergroup_id', '')}"
        case "broadcast":
            return f"@{element.get('range', '')}"
        case "date":
            date = to_date(element.get("timestamp"), element.get("format") or "", element.get("fallback") or "")
            return linked(element.get("url") or "", date)
        case "color":
            return str(element.get("value") or "")
        case _:
            return ""


_PATH = re.compile(r"/archives/([CDG][A-Z0-9]+)/p(\d{10})(\d{6})/?")


@dataclass(frozen=True)
class Permalink:
    """Where a message link points; `parent_ts` is set if the message is a reply in a thread."""

    host: str
    channel_id: str
    message_ts: str
    parent_ts: str | None

    def blocker(self, hosts: Collection[str]) -> str | None:
        """What keeps the message from being read; None if the link's host is one of these or an Enterprise Grid's.

        Links of a Grid name the organisation; only Slack can say whether the message can be read.
        """
        if self.host in hosts or self.host.endswith(".enterprise.slack.com"):
            return None
        return f"That link is from another workspace ({self.host}), and I can read only this one."


def parse_permalink(text: str) -> Permalink | None:
    """The message that the link points to if the text is nothing but a message link; None otherwise.

    Source: https://docs.slack.dev/reference/methods/chat.getPermalink
    """
    link = text.strip().removeprefix("<").removesuffix(">").partition("|")[0].replace("&amp;", "&")
    if not link.startswith(("https://", "http://")) or any(char.isspace() for char in link):
        return None
    try:
        parts = urlsplit(link)
    except ValueError:
        return None
    match = _PATH.fullmatch(parts.path)
    if not match:
        return None
    ts = f"{match[2]}.{match[3]}"
    parent = parse_qs(parts.query).get("thread_ts", [None])[0]
    return Permalink(parts.netloc, match[1], ts, parent if parent != ts else None)


@dataclass(frozen=True)
class Change:
    """A message whose words have changed; `text` is None if it was deleted."""

    team_id: str
    channel_id: str
    ts: str
    text: str | None


def to_change(body: Raw, own_ids: Collection[str]) -> Change | None:
    """The change in a message event; None for new messages, previews of links, and our own messages.

    A deleted parent of a thread is reported as changed into a tombstone.
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
            text = to_message(now).text
            return None if before and to_message(before).text == text else Change(**place, ts=now["ts"], text=text)
    return None


_PAGE = 200


def to_metadata(event: str, payload: dict[str, Any]) -> dict[str, Any]:
    """The metadata by which `find_marked` finds a message."""
    return {"event_type": event, "event_payload": payload}


async def find_marked(
    client: AsyncWebClient, channel: str, metadata: dict[str, Any], oldest: float, thread_ts: str | None = None
) -> str | None:
    """The ts of the message with this metadata in a channel or thread, not older than `oldest` (epoch s), or None."""
    span: dict[str, Any] = {"oldest": f"{oldest:.6f}", "include_all_metadata": True, "limit": _PAGE}
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


ADDED, REMOVED = "reaction_added", "reaction_removed"

_TS = re.compile(r"[0-9]{1,10}\.[0-9]{1,6}")
_TIMES = ("ts", "thread_ts", "deleted_ts")
_WORDS = ("type", "subtype", "channel", "channel_type", "user", "bot_id", "item_user", "reaction")
_NEEDED = {
    "message": ("channel", "ts"),
    "message_changed": ("channel", "message"),
    "message_deleted": ("channel", "deleted_ts"),
    "app_mention": ("channel", "ts"),
    "app_home_opened": ("channel", "user"),
    ADDED: ("user", "reaction", "item", "event_ts"),
    REMOVED: ("user", "reaction", "item", "event_ts"),
}


def odd_part(event: Any) -> str:
    """The part of an event that is missing or malformed; empty if all parts that the app reads are well-formed."""
    if not isinstance(event, dict):
        return "event"
    kind = event.get("subtype") if event.get("subtype") in _NEEDED else event.get("type")
    if missing := [name for name in _NEEDED.get(str(kind), ()) if event.get(name) is None]:
        return missing[0]
    parts = {name: event[name] for name in ("message", "previous_message", "item") if event.get(name) is not None}
    if odd := [name for name, part in parts.items() if not isinstance(part, dict)]:
        return odd[0]
    if "message" in parts and "ts" not in parts["message"]:
        return "message"
    if kind in (ADDED, REMOVED) and parts["item"].get("type") == "message":
        event = event | {"ts": event["event_ts"]}
        if not {"channel", "ts"} <= parts["item"].keys():
            return "item"
    for part in (event, *parts.values()):
        texts = {name: part[name] for name in (*_TIMES, *_WORDS) if part.get(name) is not None}
        for name, text in texts.items():
            if not isinstance(text, str) or (name in _TIMES and not _TS.fullmatch(text)):
                return name
    return ""


def to_reaction(body: Raw) -> Reaction | None:
    """The reaction in an event, or None if it is not on a message.

    Source: https://docs.slack.dev/reference/events/reaction_added, https://docs.slack.dev/reference/events/reaction_removed
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
