"""What Slack tells of channels, to apps that subscribe to it: messages, changes of messages, and reactions.

Slack tells of every message and every reaction of every channel that the app is in. So these events are taken in before
Bolt sees them: Bolt's own work on one takes longer than all that is done with nearly any of them.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.domain.label import Reaction
from bot.slack.client import Identity
from bot.slack.messages import ADDED, REMOVED, to_reaction

_CHANNELS = {"channel", "group", "mpim"}
CHANGES = {"message_changed", "message_deleted"}


@dataclass(frozen=True)
class ChannelEvents:
    """Hands the messages of channels, changes of any message, and reactions to who needs them."""

    identity: Identity
    on_message: Sequence[Callable[[Mapping[str, Any]], Awaitable[None]]]
    on_reaction: Sequence[Callable[[Reaction], Awaitable[bool]]]

    async def takes(self, body: Mapping[str, Any]) -> bool:
        """Whether this payload was such an event; all that it tells is durable then, and Slack may be told so."""
        event = body.get("event") or {}
        if body.get("team_id") != self.identity.team_id:
            return False
        if event.get("type") in {ADDED, REMOVED}:
            reaction = to_reaction(dict(body))
            if reaction is None or {reaction.user_id, reaction.author_id} & self.identity.own_ids:
                return True
            return all([await take(reaction) for take in self.on_reaction])
        if event.get("type") != "message":
            return False
        if event.get("subtype") not in CHANGES and event.get("channel_type") not in _CHANNELS:
            return False
        for take in self.on_message:
            await take(body)
        return True
