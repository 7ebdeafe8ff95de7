"""A reaction: what somebody puts under a message, or takes away again."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Reaction:
    """An emoji under a message, and who put it there.

    Attributes:
        ts: Which message.
        author_id: Who wrote that; None where Slack does not say, as of what a webhook posted.
        emoji: By its one name; its skin tone is nobody's business.
        is_added: Whether it was put there, or taken away.
        at: When.
    """

    team_id: str
    channel_id: str
    ts: str
    author_id: str | None
    user_id: str
    emoji: str
    is_added: bool
    at: datetime
