"""Why there is nothing to judge in what a case is about; `views` has the words."""

from dataclasses import dataclass
from enum import StrEnum


class ObstacleKind(StrEnum):
    """What stands in the way of a judgement."""

    OWN_MESSAGE = "own_message"
    A_PERSONS = "a_persons"
    NO_TEXT = "no_text"
    ONLY_FILES = "only_files"
    ONLY_IMAGE = "only_image"
    ONLY_BLOCKS = "only_blocks"
    UNREADABLE = "unreadable"
    OTHER_WORKSPACE = "other_workspace"
    GONE = "gone"
    MAY_NOT_READ = "may_not_read"
    NOT_KEPT = "not_kept"
    NO_RUBRIC = "no_rubric"
    NO_QUESTION = "no_question"
    TOO_LATE = "too_late"


@dataclass(frozen=True)
class Obstacle:
    """A kind, and what has to be named: how many files, which blocks, host or rubric.

    A case carries the sentence that was made of it, because the log keeps what its person read.
    """

    kind: ObstacleKind
    names: tuple[str, ...] = ()
    count: int = 0
