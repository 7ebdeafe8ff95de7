"""What a person thinks that a response deserves."""

from dataclasses import dataclass
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
