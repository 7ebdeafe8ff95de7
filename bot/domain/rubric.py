"""What a channel has its replies scored by, and the rubrics that people make in it."""

import re
from dataclasses import dataclass
from datetime import datetime

from judge import Rubric

DEFAULT = "default"
"""In place of a rubric's name: whatever the app's settings say."""

MOST_RUBRICS = 10
"""That a channel may have made: what is said of them has to fit into a message, and a menu."""

LONGEST_NAME = 40
_NAME = re.compile(r"[^\W_]+(-[^\W_]+)*")


@dataclass(frozen=True)
class ChannelJudge:
    """A channel's own judge; None is as the app's settings have it.

    Attributes:
        rubric: The rubric's name.
        version: Its version, where the rubric is the channel's own: what is saved later counts once it is used.
        model: The model's name.
    """

    rubric: str | None = None
    version: str | None = None
    model: str | None = None


@dataclass(frozen=True)
class SavedRubric:
    """One version of a rubric that was made in a channel."""

    team_id: str
    channel_id: str
    name: str
    number: int
    prompt: str
    saved_by: str
    saved_at: datetime

    @property
    def rubric(self) -> Rubric:
        return Rubric(self.name, self.prompt)


def is_name(text: str) -> bool:
    """Whether a rubric may be called that: lower-case letters, digits and single hyphens between them."""
    return len(text) <= LONGEST_NAME and text == text.lower() and bool(_NAME.fullmatch(text)) and text != DEFAULT
