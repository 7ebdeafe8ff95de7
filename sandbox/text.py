"""What a person types, as Slack passes it on: escaped text and a rich_text block.

Source: https://docs.slack.dev/messaging/formatting-message-text#escaping
"""

import re
from collections.abc import Mapping

from sandbox.model import Json

_SPECIAL = re.compile(r"(?P<url>https?://[^\s<>|]+)|(?<!\w)@(?P<user>[\w.-]+)|(?<!\w)#(?P<channel>[\w-]+)")

_CONTROL = re.compile(r"(<(?:[@#!]|https?://|mailto:|tel:)[^<>]*>)")
_ENTITY = re.compile("&(amp|lt|gt);")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">"}


def escape(text: str) -> str:
    """The text with `&`, `<` and `>` as entities, and nothing else changed."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def to_stored(text: str) -> str:
    """The text of a message as Slack keeps it: what is neither a control sequence nor an entity is escaped."""
    parts = _CONTROL.split(text)
    return "".join(part if _CONTROL.fullmatch(part) else escape(_ENTITY.sub(_unescaped, part)) for part in parts)


def to_elements(text: str, users: Mapping[str, str], channels: Mapping[str, str]) -> list[Json]:
    """The rich_text elements of a typed text; `users` and `channels` map names to ids."""
    elements: list[Json] = []
    end = 0
    for match in _SPECIAL.finditer(text):
        element = _element(match, users, channels)
        if element is None:
            continue
        if match.start() > end:
            elements.append({"type": "text", "text": text[end : match.start()]})
        elements.append(element)
        end = match.end()
    if end < len(text):
        elements.append({"type": "text", "text": text[end:]})
    return elements


def to_text(elements: list[Json]) -> str:
    """The `text` of a message with these rich_text elements."""
    return "".join(_WRITE[element["type"]](element) for element in elements)


def to_rich_text(elements: list[Json], block_id: str) -> Json:
    """The block that Slack adds to every message a person types."""
    section = {"type": "rich_text_section", "elements": elements}
    return {"type": "rich_text", "block_id": block_id, "elements": [section]}


def _unescaped(match: re.Match[str]) -> str:
    return _CHARACTERS[match[1]]


def _element(match: re.Match[str], users: Mapping[str, str], channels: Mapping[str, str]) -> Json | None:
    if match["url"]:
        return {"type": "link", "url": match["url"]}
    if match["user"] in users:
        return {"type": "user", "user_id": users[match["user"]]}
    if match["channel"] in channels:
        return {"type": "channel", "channel_id": channels[match["channel"]]}
    return None


_WRITE = {
    "text": lambda element: escape(element["text"]),
    "link": lambda element: f"<{escape(element['url'])}>",
    "user": lambda element: f"<@{element['user_id']}>",
    "channel": lambda element: f"<#{element['channel_id']}|>",
}
