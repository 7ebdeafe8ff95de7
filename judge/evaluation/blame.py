"""Tells who has changed, the assistant or the judge, from earlier replies that the judge was asked
about again.

Their stored scores are the judge as it was. What it gives the same replies now, less what it gave
them, is its part of a change; the rest is the assistant's. The rule was chosen by simulation:
`python -m bench.standing blame`, docs/measurements.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from statistics import fmean
from typing import Literal

from judge.evaluation.stats import Interval
from judge.scoring.rubric import Scale

FEWEST = 40
"""With fewer replies, nothing is said."""
STEPS = 60, 120
"""How many replies the judge is asked about at first, and in all if these leave it open."""
_SURE = 2.0  # standard errors
# The same of a step before the assistant is named: chance is largest where a step was found.
_SURE_OF_STEP = 3.0
# added to the squares: a few replies may all be the same by chance
_UNSEEN = 0.01


@dataclass(frozen=True)
class Blame:
    """Who has changed; `judge` is how much more the judge gives the same `n` replies now."""

    who: Literal["assistant", "judge", "both", "judge or both", "unclear"]
    judge: Interval
    n: int


def find_blame(asked: Sequence[tuple[int, int]], step: Interval, scale: Scale) -> Blame:
    """Who has changed the mean by a step.

    Args:
        asked: The stored score and the new one of each reply that the judge was asked about again,
            at least one.
        step: Its size with the 95% range, below 0 if the scores are lower.
    """
    sign = 1 if step.mean > 0 else -1
    # From here on the step is above 0.
    total = sign * step.mean
    ends = [sign * end for end in (step.low, step.high) if end is not None]
    step_error = (total - min(ends, default=0.0)) / _SURE
    moved = [sign * (new - stored) for stored, new in asked]
    judge = fmean(moved)
    unseen = _UNSEEN * (scale.high - scale.low) ** 2
    error = sqrt(sum((each - judge) ** 2 for each in moved) + unseen) / len(moved)
    rest = total - judge
    found = Interval(sign * judge, sign * judge - _SURE * error, sign * judge + _SURE * error)
    if judge > _SURE * error:
        is_both = rest > max(hypot(_SURE * error, _SURE_OF_STEP * step_error), total / 4)
        is_judge = rest + hypot(error, step_error) < total / 2
        return Blame(
            "both" if is_both else "judge" if is_judge else "judge or both", found, len(moved)
        )
    is_assistant = judge + _SURE * error < (total - _SURE_OF_STEP * step_error) / 2
    return Blame("assistant" if is_assistant else "unclear", found, len(moved))
