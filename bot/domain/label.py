"""What a person thinks of a verdict."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Label:
    """What a person thinks that a response deserves, on the rubric's scale, and why if they said so."""

    score: int
    reason: str | None
