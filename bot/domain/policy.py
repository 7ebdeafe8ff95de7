"""Where scores may be asked for, and of whose replies: what whoever runs the app has decided for all."""

from dataclasses import dataclass

from bot.domain.case import Case

_DIRECT_MESSAGES = "D"


@dataclass(frozen=True)
class Policy:
    """What may be scored; without anything set, every reply in every channel.

    Attributes:
        allowed_channels: The only channels, by id; none: all.
        denied_channels: Channels in which nothing is scored.
        scores_people: Whether people's replies are scored, or those of bots alone.
    """

    allowed_channels: frozenset[str] = frozenset()
    denied_channels: frozenset[str] = frozenset()
    scores_people: bool = True

    def allows_channel(self, case: Case) -> bool:
        """Whether a case may be there; texts that are typed in direct messages are nobody's but the person's own.

        Those of a workflow stand in no channel.
        """
        is_nowhere = not case.channel_id or case.channel_id.startswith(_DIRECT_MESSAGES)
        if is_nowhere and case.message_ts is None:
            return True
        return self.allows_messages_of(case.channel_id)

    def allows_messages_of(self, channel_id: str) -> bool:
        """Whether messages of a channel may be scored."""
        is_listed = not self.allowed_channels or channel_id in self.allowed_channels
        return is_listed and channel_id not in self.denied_channels
