"""Reactions under replies: which ask for a score, and which say what people think of one."""

from bot.domain.reaction import Reaction
from bot.slack.cache import AnswerCache
from bot.slack.emoji import THUMBS
from bot.store.digests import ChannelSettings, Digests, Thumbs
from bot.watching.watcher import Watcher

_KEPT_S = 30.0
_MOST_TEAMS = 1000


class Reactions:
    """Knows which reaction asks for a score in which channel, and notes thumbs.

    Nearly all reactions are neither, and cost no look into the log.

    Args:
        digests: Where channels' settings are kept.
        thumbs: Where thumbs become durable.
        watcher: Knows whose replies are watched.
    """

    def __init__(self, digests: Digests, thumbs: Thumbs, watcher: Watcher) -> None:
        self._digests = digests
        self._thumbs = thumbs
        self._watcher = watcher
        self._chosen = AnswerCache(digests.score_reactions, _KEPT_S, _MOST_TEAMS)

    async def save(self, settings: ChannelSettings, by: str) -> None:
        """Records what a channel has chosen; other processes go by it within half a minute."""
        await self._digests.save(settings, by)
        self._chosen.forget(settings.team_id)

    async def asks_for_score(self, reaction: Reaction) -> bool:
        """Whether somebody has put a channel's reaction under a message; a thumb that does is no opinion."""
        chosen = await self._chosen.get(reaction.team_id)
        return reaction.is_added and chosen.get(reaction.channel_id) == reaction.emoji

    async def note(self, reaction: Reaction) -> None:
        """Notes a thumb under a reply that was scored or is watched, but for its author's own."""
        if reaction.emoji in THUMBS and reaction.user_id != reaction.author_id:
            await self._thumbs.note(reaction, is_watched=await self._watcher.watches(reaction))
