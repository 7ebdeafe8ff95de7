"""Reactions: what an event tells of one, and what the person typed after `/judge reaction`."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from bot.domain.reaction import Reaction
from bot.slack.emoji import emoji_of

Raw = dict[str, Any]

ADDED, REMOVED = "reaction_added", "reaction_removed"

_LONGEST = 80
# Slack's own names, and those that workspaces give: up to 100 characters, of any alphabet, in lower case.
_EMOJI = re.compile(r":(?!skin-tone-)(?P<name>[\w+'-]{1,100}):(:skin-tone-[2-6]:)?")


@dataclass(frozen=True)
class ReactionRequest:
    """What `/judge reaction` is to do; `emoji` is the one that is to ask for a score."""

    action: Literal["state", "set", "off"]
    emoji: str = ""


def parse_reaction(text: str) -> ReactionRequest:
    """The request in what follows `/judge reaction`.

    Raises:
        ValueError: It is none; the message says what is wrong.
    """
    typed = text.strip().lower()
    if not typed:
        return ReactionRequest("state")
    if typed == "off":
        return ReactionRequest("off")
    if found := _EMOJI.fullmatch(typed):
        return ReactionRequest("set", emoji_of(found["name"]))
    raise ValueError(f"I do not know {text[:_LONGEST]!r}")


def to_reaction(body: Raw) -> Reaction | None:
    """The reaction that an event tells of; None where it is under something else than a message.

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
    )
