"""Why a person cannot have a case now; `views` has the words."""

from dataclasses import dataclass
from enum import StrEnum


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
