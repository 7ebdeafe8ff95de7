"""What the rows of a batch come to."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from judge.escalation import is_escalated


@dataclass
class Tally:
    """Counts and sums over the rows that have a verdict; `partial` are scored ones with fewer ratings than were asked
    for, `escalated` those with a stronger model's score, `reasons` those of unscored ones, `unpriced` are rows whose
    cost is not known."""

    scored: int = 0
    unscored: int = 0
    partial: int = 0
    escalated: int = 0
    scores: Counter[int] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0

    @property
    def rows(self) -> int:
        """Rows with a verdict."""
        return self.scored + self.unscored

    def add(self, added: Mapping[str, Any]) -> None:
        """Counts one row by its added fields."""
        if added["score"] is not None:
            self.scored += 1
            self.scores[added["score"]] += 1
            usable, _, asked = added["basis"].partition(" of ")
            self.partial += usable != asked
            self.escalated += is_escalated(added["model"] or "", added["escalation"])
        else:
            self.unscored += 1
            self.reasons[str(added["unscored_reason"])] += 1
        self.input_tokens += added["input_tokens"] or 0
        self.output_tokens += added["output_tokens"] or 0
        self.cost_usd += added["cost_usd"] or 0.0
        self.unpriced += added["cost_usd"] is None
