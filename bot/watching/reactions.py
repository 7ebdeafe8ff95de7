"""The reaction with which a channel's people ask for a score."""

from bot.domain.reaction import Reaction
from bot.log.digests import ChannelSettings, Digests
from bot.slack.cache import AnswerCache

_KEPT_S = 30.0
_MOST_TEAMS = 1000


class Reactions:
    """Knows which reaction asks for a score in which channel, without asking the log of each reaction.

    Args:
        digests: Where channels' settings are kept.
    """

    def __init__(self, digests: Digests) -> None:
        self._digests = digests
        self._chosen = AnswerCache(digests.score_reactions, _KEPT_S, _MOST_TEAMS)

    async def save(self, settings: ChannelSettings, by: str) -> None:
        """Records what a channel has chosen; other processes go by it within half a minute."""
        await self._digests.save(settings, by)
        self._chosen.forget(settings.team_id)

    async def asks_for_score(self, reaction: Reaction) -> bool:
        """Whether somebody has put a channel's reaction under a message."""
        chosen = await self._chosen.get(reaction.team_id)
        return reaction.is_added and chosen.get(reaction.channel_id) == reaction.emoji
