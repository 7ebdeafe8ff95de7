"""What people think of a response: their labels and their reactions."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

EVERYBODY = "*"
"""In place of a user id: everyone in the channel, now or later."""


@dataclass(frozen=True)
class Label:
    """The score that a person thinks a reply deserves, on the rubric's scale; `is_blind`: before
    the judge's.
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
    """An emoji (its first name, without a skin tone) under the message `ts`, and who put it there
    or took it away.

    `author_id` is the message's; None if Slack does not say, as for a webhook's post. `is_shared`:
    the channel is shared with another company, whose people may react there, too.
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
        return self.emoji == "+1"
