"""The statement of a score: where it stands, what it says, and how far it counts."""

from dataclasses import dataclass
from enum import IntEnum

from judge.parser.context import Role
from judge.parser.values import Value
from judge.ratings import UnscoredReason


class Weight(IntEnum):
    """How much a statement counts in the decision."""

    PROSE = 1
    PLAIN = 2
    TOTAL = 3


@dataclass(frozen=True)
class Statement:
    """One place that states a score. `doubt` is None for an assertion, else why it is not one."""

    start: int
    end: int
    value: Value
    weight: Weight
    doubt: UnscoredReason | None = None
    role: Role = Role.VERDICT
    is_fenced: bool = False
