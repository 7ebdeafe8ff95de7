"""What a person thinks that a response deserves."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True)
class Label:
    """What a person thinks that a response deserves, on the rubric's scale, and why if they said so.

    `is_blind` says that they gave it before the judge's score was shown to them.
    """

    score: int
    reason: str | None
    is_blind: bool = False


class Outcome(StrEnum):
    """Why somebody is shown a case no more for a blind label; none as long as they have not answered."""

    LABELLED = "labelled"
    SKIPPED = "skipped"
    SEEN = "seen"


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

    @property
    def is_up(self) -> bool:
        """Whether it is a thumb up."""
        return self.emoji == "+1"

    @property
    def is_thumb(self) -> bool:
        return self.emoji in {"+1", "-1"}
