"""The rules of a standing: when a direction begins, goes further and ends.

    too few  -> steady                  30 scores are older than a week
    steady   -> lower, higher           BEGAN: the evidence of a step is clear
    lower    -> lower                   FURTHER: so is that of another step, half as large or more
    lower    -> steady                  BACK: the level is nearer to the old one
    lower    -> steady                  STAYED: four weeks are over, and half of the step is left

The evidence of a direction is the sum of the Bayes factors of a step at each of the last 14 days
(Shiryaev and Roberts), so the test may be repeated every day.

Source: Shiryaev (1963), Theory of Probability and its Applications 8(1); Roberts (1966),
Technometrics 8(3). The thresholds are calibrated by simulation: docs/standing.md says what is
promised, docs/measurements.md has the figures, `python -m bench.standing` prints them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import NamedTuple

from judge.evaluation.steps import CANDIDATES, Estimate, Model, step
from judge.evaluation.tally import WINDOW, unit
from judge.scoring.rubric import Scale

MONTH = timedelta(days=28)
BEGINS = 50.0
"""The evidence that it takes."""
_ENDS = 20.0
_LEAST = 0.2  # the smallest step that is told, in points
_NEARER = 0.9  # the chance that the level is nearer to the old one
_WORN = 0.95  # the chance that less than half of the step is left


class Direction(StrEnum):
    """Where the scores stand beside their level before."""

    TOO_FEW = "too few"
    STEADY = "steady"
    LOWER = "lower"
    HIGHER = "higher"


class Event(StrEnum):
    """What was not so at the last look."""

    BEGAN = "began"
    FURTHER = "further"
    BACK = "back"
    STAYED = "stayed"


@dataclass(frozen=True)
class State:
    """What is remembered from one look to the next.

    Attributes:
        origin: Scores of earlier days do not count; None if all do.
        since: The day of the step; None without a direction.
        step: The size that was told, below 0 if the scores are lower.
        ended: The days of other steps that remain in the model: those of the directions that have
            ended, and their ends; a further step of this one.
    """

    direction: Direction = Direction.TOO_FEW
    origin: date | None = None
    since: date | None = None
    step: float = 0.0
    ended: tuple[date, ...] = ()


@dataclass(frozen=True)
class Finding:
    """What a look has found, but for the levels; `size` is that of all steps of the direction."""

    state: State
    event: Event | None = None
    size: Estimate | None = None
    turned: date | None = None


class _Told(NamedTuple):
    """A direction that was told; `shares` pick its steps among those known. Its sizes are above 0
    if they go its way.
    """

    state: State
    unit: float
    shares: Sequence[float]

    @property
    def sign(self) -> int:
        return 1 if self.state.direction is Direction.HIGHER else -1

    @property
    def half(self) -> float:
        """Half of the step as it was told."""
        return self.sign * self.state.step / self.unit / 2

    def left(self, model: Model) -> Estimate:
        """What is left of it."""
        return model.estimate(*self.shares).times(self.sign)


class _Candidate(NamedTuple):
    """One more step, on that day."""

    day: date
    model: Model
    size: Estimate

    def evidence(self, sign: int) -> float:
        """The evidence that it leads up, or with a sign of -1 down."""
        return self.model.evidence * self.size.times(sign).chance_above(0)


def find(model: Model, state: State, known: Sequence[date], today: date, scale: Scale) -> Finding:
    """The rules. The model has a step on each of the days in `known`, in their order."""
    steady = State(Direction.STEADY, state.origin, ended=tuple(known))
    if state.since is None:
        return _begin(model, steady, today, scale)
    last = max([state.since, *state.ended])
    stayed = Finding(State(Direction.STEADY, origin=last), Event.STAYED)
    if state.since not in known:
        # No score from before the step is left to compare with.
        return stayed
    told = _Told(state, unit(scale), [float(day >= state.since) for day in known])
    if today - last < MONTH:
        candidates = _candidates(model, last + timedelta(days=1), today)
        return _follow(model, candidates, told, steady)
    return stayed if told.left(model).mean >= told.half else Finding(steady, Event.BACK)


def _follow(model: Model, candidates: Sequence[_Candidate], told: _Told, steady: State) -> Finding:
    """What has become of a direction in its four weeks."""
    changed = _turn_back(candidates, told, steady) or _go_further(candidates, told)
    if changed:
        return changed
    left = told.left(model)
    is_worn = 1 - left.chance_above(told.half) >= _WORN
    if is_worn or left.mean <= 0:
        return Finding(steady, Event.BACK)
    return Finding(told.state, size=left.times(told.sign))


def _turn_back(candidates: Sequence[_Candidate], told: _Told, steady: State) -> Finding | None:
    """Whether a step back leads nearer to the old level."""
    if _evidence(candidates, -told.sign) < _ENDS:
        return None
    back = _clearest(candidates, -told.sign)
    # What is left, less half of the step as it was: below 0 if the level is nearer to the old one.
    halves = [share / 2 for share in told.shares]
    middle = back.model.estimate(*halves, 1.0).times(told.sign)
    if 1 - middle.chance_above(0) < _NEARER:
        return None
    ended = tuple(sorted([*steady.ended, back.day]))
    return Finding(replace(steady, ended=ended), Event.BACK, turned=back.day)


def _go_further(candidates: Sequence[_Candidate], told: _Told) -> Finding | None:
    """Whether another step leads farther, by half as much as was told or more."""
    if _evidence(candidates, told.sign) < BEGINS:
        return None
    further = _clearest(candidates, told.sign)
    if further.size.times(told.sign).mean < told.half:
        return None
    size = further.model.estimate(*told.shares, 1.0)
    ended = tuple(sorted([*told.state.ended, further.day]))
    step = size.mean * told.unit
    gone = replace(told.state, step=step, ended=ended)
    return Finding(gone, Event.FURTHER, size)


def _begin(model: Model, steady: State, today: date, scale: Scale) -> Finding:
    """Whether a direction begins."""
    candidates = _candidates(model, date.min, today)
    sign = 1 if _evidence(candidates, 1) > _evidence(candidates, -1) else -1
    if _evidence(candidates, sign) < BEGINS:
        return Finding(steady)
    clearest = _clearest(candidates, sign)
    if clearest.size.times(sign).mean < _LEAST:
        return Finding(steady)
    begun = replace(
        steady,
        direction=Direction.HIGHER if sign > 0 else Direction.LOWER,
        since=clearest.day,
        step=clearest.size.mean * unit(scale),
    )
    return Finding(begun, Event.BEGAN, clearest.size)


def _candidates(model: Model, first: date, today: date) -> list[_Candidate]:
    candidates = []
    for days_ago in range(CANDIDATES, 0, -1):
        day = today - timedelta(days=days_ago)
        # A day without a score is the same step as the next one with a score.
        has_scores = model.information[WINDOW - days_ago][WINDOW - days_ago] > 0
        if day >= first and has_scores:
            with_step = model.having(step(day, today))
            others = [0.0 for _ in model.designs]
            candidates.append(_Candidate(day, with_step, with_step.estimate(*others, 1.0)))
    return candidates


def _evidence(candidates: Sequence[_Candidate], sign: int) -> float:
    return sum(candidate.evidence(sign) for candidate in candidates)


def _clearest(candidates: Sequence[_Candidate], sign: int) -> _Candidate:
    return max(candidates, key=lambda candidate: candidate.evidence(sign))
