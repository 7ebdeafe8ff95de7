"""Why a person cannot have a case now; `views` has the words."""

from dataclasses import dataclass
from enum import StrEnum


class RefusalKind(StrEnum):
    """What is against it."""

    FOREIGN = "foreign"
    TOO_MANY_CASES = "too_many_cases"
    NO_TOKENS_LEFT = "no_tokens_left"


@dataclass(frozen=True)
class Refusal:
    """A kind, and for `TOO_MANY_CASES` how many a person may ask for within an hour."""

    kind: RefusalKind
    cases_per_hour: int = 0
