"""A reaction: what somebody puts under a message, or takes away again."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Reaction:
    """An emoji under a message, and who put it there.

    Attributes:
        ts: Which message.
        author_id: Who wrote that; None where Slack does not say, as of what a webhook posted.
        name: As Slack has it, with its skin tone; one person may give several of one emoji.
        emoji: The emoji's one name.
        is_added: Whether it was put there, or taken away.
        at: When.
    """

    team_id: str
    channel_id: str
    ts: str
    author_id: str | None
    user_id: str
    name: str
    emoji: str
    is_added: bool
    at: datetime
