"""What people think of a response: their labels and their reactions."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True)
class Label:
    """The score that a person thinks a response deserves, on the rubric's scale, with their reason if they gave one.

    `is_blind` says that they gave it before they were shown the judge's score.
    """

    score: int
    reason: str | None
    is_blind: bool = False


class Outcome(StrEnum):
    """Why a person is no longer shown a case for a blind label; None until then."""

    LABELLED = "labelled"
    SKIPPED = "skipped"
    SEEN = "seen"


@dataclass(frozen=True)
class Reaction:
    """An emoji under a message, and who put it there.

    Attributes:
        ts: The message.
        author_id: Who wrote the message; None if Slack does not say, as for a webhook's post.
        emoji: Its first name, without a skin tone.
        is_added: Whether it was added; False if it was removed.
        at: When it was added or removed.
        is_shared: Whether its channel is shared with another company, whose people may react there, too.
    """

    team_id: str
    channel_id: str
    ts: str
    author_id: str | None
    user_id: str
    emoji: str
    is_added: bool
    at: datetime
    is_shared: bool = False

    @property
    def is_up(self) -> bool:
        """Whether it is a thumbs-up."""
        return self.emoji == "+1"

    @property
    def is_thumb(self) -> bool:
        return self.emoji in {"+1", "-1"}
