"""A verdict as it is stored and shown: what the judge said, or why there is no score, and what the
store adds to it.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, cast

from judge import Flag, Unscored, Verdict
from judge.scoring.ratings import UnscoredReason, point

if TYPE_CHECKING:
    from judge import Judge

OFFLINE = "offline"
MADE_UP = "made up for the demo"
"""In place of the model if there was none: for the scores that the demo begins with."""


def later_version(version: str, since: datetime) -> str:
    """The judge version of a judge that has changed since then under its name."""
    return f"{version}, since {since:%Y-%m-%d}"


def base_version(version: str | None) -> str:
    """What the judge itself calls its version."""
    return re.sub(r", since \d{4}-\d\d-\d\d$", "", version or "")


def reference_of(version: str | None) -> str:
    """The version of the reference that a judge of this version compared with; "" if it had none."""
    found = re.search(r", with reference (\w+)", version or "")
    return found[1] if found else ""


@dataclass(frozen=True, kw_only=True)
class CaseVerdict(Verdict):
    """The judge's verdict on a case, with the scale it is on and what makes it comparable.

    `judge_version` is everything that makes scores comparable, in words; None if there is no score.

    `flags` are those of the response and of the question.

    `unscored.detail` is the sentence for the operator; what the requester reads in Slack is written
    in `verdict_text`.
    """

    lowest: int = 0
    highest: int = 5
    judge_version: str | None = None

    @property
    def unscored_reason(self) -> str | None:
        return str(self.unscored.reason) if self.unscored else None

    @property
    def is_offline(self) -> bool:
        return self.model == OFFLINE

    @property
    def span(self) -> tuple[int, int]:
        """The lowest and the highest usable rating; raises ValueError if there is none."""
        scores = [rating.score for rating in self.usable]
        return min(scores), max(scores)

    @property
    def is_split(self) -> bool:
        """Whether the ratings clearly disagree: they are two points apart, or more."""
        return len(self.usable) > 1 and (self.spread or 0) >= 2 * point((self.lowest, self.highest))


def from_verdict(verdict: Verdict, judge: "Judge", flags: Collection[Flag]) -> CaseVerdict:
    """The judge's verdict on a case; `flags` are further ones."""
    low, high = judge.rubric.scale
    judge_version = judge.version if verdict.is_scored else None
    its = {"lowest": low, "highest": high, "judge_version": judge_version}
    its_flags = tuple(flag for flag in Flag if flag in {*verdict.flags, *flags})
    return CaseVerdict(**vars(verdict) | its | {"flags": its_flags})


def without_score(reason: str, detail: str, judge: "Judge") -> CaseVerdict:
    """A verdict without a score: there was nothing to judge, or no model could be asked.

    Its cost is not known.
    """
    why = Unscored(reason=cast("UnscoredReason", reason), detail=detail)
    return CaseVerdict(**vars(judge.unscored(why)) | {"cost_usd": None})
