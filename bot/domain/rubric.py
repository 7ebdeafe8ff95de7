"""Which rubric and model score a channel's replies, and the rubrics that people make in the channel."""

from dataclasses import dataclass, field
from datetime import datetime

from judge import Rubric

MOST_RUBRICS = 10
"""At most this many rubrics are made in a channel, so that a message and a menu can list them all."""


@dataclass(frozen=True)
class ChannelJudge:
    """A channel's own judge; None means the app's setting, or in `version` that the rubric is not its own.

    The `reference` is what its replies must agree with, whatever judge is chosen.
    """

    rubric: str | None = None
    version: str | None = None
    model: str | None = None
    reference: str | None = field(default=None, compare=False)


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
