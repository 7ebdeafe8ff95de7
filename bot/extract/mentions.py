"""A message that speaks to the app: in a channel by its name, in direct messages by standing there."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from bot.extract.commands import Texts, parse_command
from bot.extract.invocation import Invocation, to_invocation
from bot.extract.links import Permalink
from bot.slack.authors import SLACKBOT

Raw = dict[str, Any]

_REQUEST = re.compile(r"\bscore\s+this\b", re.IGNORECASE)
_PERSONS_WORDS = {None, "file_share", "thread_broadcast"}
# An edited mention is sent once more: https://github.com/slack-go/slack/pull/1256
_NOT_SAID_NOW = ("bot_id", "bot_profile", "app_id", "edited", "hidden")


@dataclass(frozen=True)
class Mention:
    """What a person says to the app: who and where, the message's `ts`, and whether it asks for a score.

    `lacks_command` is whether it would, in direct messages, with `/judge` before it.
    """

    invocation: Invocation
    ts: str
    asks_for_score: bool
    lacks_command: bool


def to_mention(body: Raw, own_ids: Collection[str]) -> Mention | None:
    """What a person says to the app; None for bots and ourselves, edits, joins, and what others say to each other.

    Source: https://docs.slack.dev/reference/events/app_mention, https://docs.slack.dev/reference/events/message.im
    """
    event = body["event"]
    is_direct = event.get("channel_type") == "im"
    if event["type"] != "app_mention" and not is_direct:
        return None
    is_said = event.get("subtype") in _PERSONS_WORDS and not any(event.get(mark) for mark in _NOT_SAID_NOW)
    if not is_said or event.get("user") in {None, SLACKBOT, *own_ids}:
        return None
    text = event.get("text") or ""
    asks = not is_direct and asks_for_score(text)
    lacks_command = is_direct and isinstance(parse_command(text), Texts | Permalink)
    return Mention(to_invocation(body), event["ts"], asks, lacks_command)


def is_said_to(own_id: str, text: str) -> bool:
    """Whether a message's text begins with the app's name, or has it anywhere and asks for a score."""
    name = f"@{own_id}"
    return text.startswith(name) or (name in text and asks_for_score(text))


def asks_for_score(text: str) -> bool:
    """Whether words that are said to the app ask it to score the message above."""
    return _REQUEST.search(text) is not None
