"""What Slack tells of channels, to apps that subscribe to it: messages to watch or edited since, and reactions.

Slack tells of every message and every reaction of every channel that the app is in. So these events are taken in before
Bolt sees them: its own work on one takes longer than all that is done with nearly any of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.extract.events import to_change
from bot.extract.reactions import ADDED, REMOVED, to_reaction
from bot.slack.client import Identity
from bot.upkeep.edits import EditsUpkeep
from bot.watching.reactions import Reactions
from bot.watching.watcher import Watcher

_CHANNELS = {"channel", "group", "mpim"}
_CHANGES = {"message_changed", "message_deleted"}


@dataclass(frozen=True)
class ChannelEvents:
    """Takes in the messages of channels, changes of any message, and reactions.

    Attributes:
        edits: Marks what was scored.
        watcher: Notes replies of watched assistants.
        reactions: Notes thumbs, and knows which reactions ask for a score.
        identity: Who we are: another workspace's events are refused elsewhere.
    """

    edits: EditsUpkeep
    watcher: Watcher
    reactions: Reactions
    identity: Identity

    async def takes(self, body: Mapping[str, Any]) -> bool:
        """Whether this payload was such an event; all that it tells is durable then, and Slack may be told so."""
        event = body.get("event") or {}
        if body.get("team_id") != self.identity.team_id:
            return False
        if event.get("type") in {ADDED, REMOVED}:
            return await self._takes_reaction(body)
        if event.get("type") != "message":
            return False
        if event.get("subtype") in _CHANGES:
            change = to_change(dict(body), self.identity.own_ids)
            if change:
                await self.edits.note(change)
        elif event.get("channel_type") not in _CHANNELS:
            return False
        await self.watcher.note(body)
        return True

    async def _takes_reaction(self, body: Mapping[str, Any]) -> bool:
        """The same for a reaction; one that asks for a score is left to its listener, which can answer."""
        reaction = to_reaction(dict(body))
        if reaction is None or {reaction.user_id, reaction.author_id} & self.identity.own_ids:
            return True
        if await self.reactions.asks_for_score(reaction):
            return False
        await self.reactions.note(reaction)
        return True


def register(app: AsyncApp) -> None:
    """Connects what is left of these events, such as our own direct messages."""

    @app.event("message")
    async def message_is_nothing_to_us() -> None:
        """Without a listener Bolt would warn of each."""
