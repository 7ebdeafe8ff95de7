"""Tells who has changed, the assistant or the judge, from earlier replies that the judge was asked
about again.

Their stored scores are the judge as it was. What it gives the same replies now, less what it gave
them, is its part of a change; the rest is the assistant's. The rule was chosen by simulation:
`python -m bench.blame`, docs/measurements.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from statistics import fmean, pvariance
from typing import Literal

from judge.evaluation.drift import Kind
from judge.evaluation.stats import Interval
from judge.scoring.rubric import Scale

FEWEST = 40
"""With fewer replies, nothing is said."""
STEPS = 60, 120
"""How many replies the judge is asked about at first, and in all if these leave it open."""
_SURE = 2.0  # standard errors
# added to the squares: a few replies may all be the same by chance
_UNSEEN = 0.01
_UNSEEN_SHARE = 0.1


@dataclass(frozen=True)
class Blame:
    """Who has changed; `judge` is how much more the judge gives the same `n` replies now, "low
    share" as a share.
    """

    who: Literal["assistant", "judge", "both", "judge or both", "unclear"]
    judge: Interval
    n: int


def find_blame(
    asked: Sequence[tuple[int, int]],
    reference: Sequence[int],
    recent: Sequence[int],
    kind: Kind,
    scale: Scale,
) -> Blame:
    """Who has changed the figure `kind` from the reference to the recent scores; "rise" is a change
    upwards.

    `asked` has the stored score and the new one of each reply that the judge was asked about again,
    at least one.
    """
    # the change is above 0
    is_share = kind == "low share"
    sign = 1 if kind in {"rise", "low share"} else -1

    def value(score: int) -> float:
        return float(2 * score < scale.low + scale.high) if is_share else sign * score

    before, after = ([value(score) for score in scores] for scores in (reference, recent))
    total = fmean(after) - fmean(before)
    moved = [value(now) - value(stored) for stored, now in asked]
    judge = fmean(moved)
    unseen = _UNSEEN_SHARE if is_share else _UNSEEN * (scale.high - scale.low) ** 2
    error = sqrt(sum((each - judge) ** 2 for each in moved) + unseen) / len(moved)
    total_error = hypot(*(sqrt(pvariance(each) / len(each)) for each in (before, after)))
    rest = total - judge
    rest_error = hypot(error, total_error)
    found = Interval(sign * judge, sign * judge - _SURE * error, sign * judge + _SURE * error)
    if judge > _SURE * error:
        is_both = rest > max(_SURE * rest_error, total / 4)
        is_judge = rest + rest_error < total / 2
        return Blame(
            "both" if is_both else "judge" if is_judge else "judge or both", found, len(moved)
        )
    # An alarm picks the worst days, so the change is taken at its lower end.
    is_assistant = judge + _SURE * error < (total - _SURE * total_error) / 2
    return Blame("assistant" if is_assistant else "unclear", found, len(moved))
