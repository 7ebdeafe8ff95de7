"""Why there is nothing to judge in what a case is about; `views` has the words."""

from dataclasses import dataclass
from enum import StrEnum


class BlockerKind(StrEnum):
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
class Blocker:
    """A kind, and what has to be named: how many files, which blocks, host or rubric.

    A case carries the sentence that was made of it, because the log keeps what its person read.
    """

    kind: BlockerKind
    names: tuple[str, ...] = ()
    count: int = 0


class RefusalKind(StrEnum):
    """What is against it."""

    FOREIGN = "foreign"
    CHANNEL_OFF = "channel_off"
    PEOPLE_OFF = "people_off"
    TOO_MANY_CASES = "too_many_cases"
    TOO_MANY_IN_WORKSPACE = "too_many_in_workspace"
    NO_TOKENS_LEFT = "no_tokens_left"


@dataclass(frozen=True)
class Refusal:
    """A kind, and where cases are counted, how many are allowed."""

    kind: RefusalKind
    most: int = 0


class RefusedError(Exception):
    """There is no case, for the reason that is given."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.kind)
        self.refusal = refusal
