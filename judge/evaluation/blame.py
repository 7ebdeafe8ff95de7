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
_SURE_OF_STEP = 3.5
# added to the squares: a few replies may all be the same by chance
_UNSEEN = 0.01


Who = Literal["assistant", "judge", "both", "judge or both", "unclear"]


@dataclass(frozen=True)
class Blame:
    """Who has changed; `judge` is how much more the judge gives the same `n` replies now."""

    who: Who
    judge: Interval
    n: int


def find_blame(asked: Sequence[tuple[int, int]], step: Interval, scale: Scale) -> Blame:
    """Who has changed the mean by a step.

    Args:
        asked: The stored score and the new one of each reply that the judge was asked about again,
            at least one.
        step: Its size with the 95% range, below 0 if the scores are lower.
    """
    # What goes the way of the step is above 0.
    sign = 1 if step.mean > 0 else -1
    moved = [sign * (new - stored) for stored, new in asked]
    judge = fmean(moved)
    unseen = _UNSEEN * (scale.high - scale.low) ** 2
    squares = sum((move - judge) ** 2 for move in moved)
    error = sqrt(squares + unseen) / len(moved)
    size = sign * step.mean
    margin = size if step.low is None else step.mean - step.low
    interval = Interval(sign * judge, sign * judge - _SURE * error, sign * judge + _SURE * error)
    return Blame(_who(size, margin / _SURE, judge, error), interval, len(moved))


def _who(size: float, step_error: float, judge: float, error: float) -> Who:
    """Who has changed the mean by a step of that size, if it is the judge's by so much; each with
    its standard error.
    """
    rest = size - judge
    if judge <= _SURE * error:
        # The judge has not clearly changed: it must be clear that most of the step is not its.
        least_step = size - _SURE_OF_STEP * step_error
        return "assistant" if judge + _SURE * error < least_step / 2 else "unclear"
    if rest > max(hypot(_SURE * error, _SURE_OF_STEP * step_error), size / 4):
        return "both"
    if rest + hypot(error, step_error) < size / 2:
        return "judge"
    return "judge or both"
