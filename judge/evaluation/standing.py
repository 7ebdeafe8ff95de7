"""What is known of an assistant's scores from day to day: steady, lower or higher, and since when.

    state = State()
    found = look(scores, today, Scale(0, 5), state)     # once a day; `found.state` is for the next look
    step_at(scores, date(2026, 11, 12), today, Scale(0, 5))     # by how much a release changed them

A look tests for a step at each of the last 14 days, in both directions. The evidence of a direction
is the sum of the Bayes factors of these steps (Shiryaev and Roberts), so the test may be repeated
every day. A step that was found is remembered, and remains in the model: from then on the question
is whether the level is the old one again. It is answered by a step back, or by what is left of the
first, or after four weeks, when the level is the assistant's own.

    too few  -> steady                  30 scores are older than a week
    steady   -> lower, higher           BEGAN: the evidence of a step is clear
    lower    -> lower                   FURTHER: so is that of another step, half as large or more
    lower    -> steady                  BACK: the level is nearer to the old one
    lower    -> steady                  STAYED: four weeks are over, and half of the step is left

Source: Shiryaev (1963), Theory of Probability and its Applications 8(1); Roberts (1966),
Technometrics 8(3). The thresholds are calibrated by simulation: docs/standing.md says what is
promised, docs/measurements.md has the figures, `python -m bench.standing` prints them.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from math import sqrt
from statistics import fmean
from typing import NamedTuple

from judge.evaluation.stats import Interval, estimate_mean
from judge.evaluation.steps import (
    CANDIDATES,
    FREE,
    WINDOW,
    DatedScore,
    Estimate,
    Model,
    step,
    tally,
    to_model,
    unit,
)
from judge.scoring.rubric import Scale

__all__ = [
    "DatedScore",
    "Direction",
    "Event",
    "Look",
    "State",
    "below",
    "days_until_clear",
    "look",
    "step_at",
]

MIN_BEFORE = 30
"""With fewer scores that are older than a week, or from before a release, nothing is said."""
MIN_AFTER = 10
"""With fewer scores since a release, nothing is said of it."""
_MONTH = timedelta(days=28)
_WEEK = timedelta(days=7)

_BEGINS = 50.0  # the evidence that it takes
_ENDS = 20.0
_LEAST = 0.2  # the smallest step that is told, in points
_NEARER = 0.9  # the chance that the level is nearer to the old one
_WORN = 0.95  # the chance that less than half of the step is left
_SOUGHT = 0.5  # the change after a release that is waited for, in points
_CLEAR = 1.96 + 0.84  # standard errors of a change that is clear in 80%


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
class Look:
    """What a look has found.

    Attributes:
        state: For the next look.
        level: The mean since the step, or of the last four weeks; None without a score.
        n: How many scores these are.
        before: The mean of the four weeks before the step; None without a direction.
        step: How much higher the level is than before, below 0 if it is lower.
        turned: With BACK, the day since when the level is the old one, if there was a step back.
    """

    state: State
    event: Event | None
    level: Interval | None
    n: int
    before: float | None = None
    step: Interval | None = None
    turned: date | None = None


def look(scores: Sequence[DatedScore], today: date, scale: Scale, state: State) -> Look:
    """What the scores of the days before `today` show beside what is remembered; those of the last
    `WINDOW` days count.
    """
    counted = _counted(scores, today, state.origin)
    if sum(score.day < today - _WEEK for score in counted) < MIN_BEFORE:
        return _seen(Finding(State(origin=state.origin)), counted, today, scale)
    first = min(score.day for score in counted)
    known = sorted(day for day in (*state.ended, state.since) if day and day > first)
    model = to_model(tally(counted, today, scale, known))
    for day in known:
        model = model.having(step(day, today))
    return _seen(find(model, state, known, today, scale), counted, today, scale)


@dataclass(frozen=True)
class Finding:
    """What a look has found, but for the levels; `size` is that of all steps of the direction."""

    state: State
    event: Event | None = None
    size: Estimate | None = None
    turned: date | None = None


def _counted(scores: Sequence[DatedScore], today: date, origin: date | None) -> list[DatedScore]:
    first = today - timedelta(days=WINDOW)
    if origin is not None:
        first = max(first, origin)
    return [score for score in scores if first <= score.day < today]


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
    left = model.estimate(*told.shares).times(told.sign)
    if today - last >= _MONTH:
        return stayed if left.mean >= told.half else Finding(steady, Event.BACK)
    candidates = _candidates(model, last + timedelta(days=1), today)
    changed = _turn_back(candidates, told, steady) or _go_further(candidates, told)
    if changed:
        return changed
    is_worn = 1 - left.chance_above(told.half) >= _WORN
    if is_worn or left.mean <= 0:
        return Finding(steady, Event.BACK)
    return Finding(state, size=left.times(told.sign))


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


def _turn_back(candidates: Sequence["_Candidate"], told: _Told, steady: State) -> Finding | None:
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


def _go_further(candidates: Sequence["_Candidate"], told: _Told) -> Finding | None:
    """Whether another step leads farther, by half as much as was told or more."""
    if _evidence(candidates, told.sign) < _BEGINS:
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
    if _evidence(candidates, sign) < _BEGINS:
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


class _Candidate(NamedTuple):
    """One more step, on that day."""

    day: date
    model: Model
    size: Estimate

    def evidence(self, sign: int) -> float:
        """The evidence that it leads up, or with a sign of -1 down."""
        return self.model.evidence * self.size.times(sign).chance_above(0)


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


def _seen(finding: Finding, scores: Sequence[DatedScore], today: date, scale: Scale) -> Look:
    """The look, with its levels."""
    state = finding.state
    start = today - _MONTH
    if state.since:
        start = max([state.since, *state.ended])
    late = [score for score in scores if score.day >= start]
    level = _level(late, scale)
    if level is None or finding.size is None:
        return Look(state, finding.event, level, len(late), turned=finding.turned)
    change = finding.size.interval(scale)
    first = state.since or start
    before = level_before(scores, first, scale, level.mean, change.mean, state.ended)
    return Look(state, finding.event, level, len(late), before, change)


def level_before(
    scores: Sequence[DatedScore],
    day: date,
    scale: Scale,
    level: float,
    change: float,
    known: Collection[date],
) -> float:
    """The mean of the four weeks before a change to this level, or since another one in them.

    Where other channels make it contradict the change, it is what the change says.
    """
    first = max([day - _MONTH, *(other for other in known if other < day)])
    earlier = [score.score for score in scores if first <= score.day < day]
    if earlier and (level - fmean(earlier)) * change > 0:
        return fmean(earlier)
    return min(max(level - change, scale.low), scale.high)


def _level(scores: Sequence[DatedScore], scale: Scale) -> Interval | None:
    """The mean with its range; scores of a thread are a cluster."""
    clustered = ((score.score, score.cluster(n)) for n, score in enumerate(scores))
    estimate = estimate_mean(clustered, scale)
    return estimate.judge if estimate else None


def step_at(
    scores: Sequence[DatedScore],
    day: date,
    today: date,
    scale: Scale,
    known: Collection[date] = (),
) -> Interval | None:
    """By how much the level has changed on that day, with its 95% range; None if there are too few
    scores before it or since.

    Args:
        known: The days of other steps.
    """
    counted = _counted(scores, today, None)
    before = sum(score.day < day for score in counted)
    if before < MIN_BEFORE or len(counted) - before < MIN_AFTER:
        return None
    first = min(score.day for score in counted)
    others = sorted({other for other in known if first < other and other != day})
    model = to_model(tally(counted, today, scale, [*others, day]))
    for other in others:
        model = model.having(step(other, today))
    with_step = model.having(step(day, today), FREE)
    return with_step.estimate(*[0.0 for _ in others], 1.0).interval(scale)


def days_until_clear(
    scores: Sequence[DatedScore], day: date, today: date, scale: Scale
) -> int | None:
    """How many whole weeks after that day, in days, a change of half a point (of five) on it is
    clear in four of five cases; None if that takes more than four weeks, or too few are scored.
    """
    counted = _counted(scores, today, None)
    if len(counted) < MIN_BEFORE:
        return None
    known = tally(counted, today, scale, [day])
    ways = to_model(known).fits
    for days in range(7, _MONTH.days + 1, 7):
        end = day + timedelta(days=days)
        if end < today:
            continue
        ahead = to_model(known.at(today, end)).having(step(day, end), FREE)
        sizes = ahead.estimate(1.0).parts
        # The ways are weighed by the scores that are known: those ahead are made up.
        variance = sum(
            way.weight * deviation**2 for way, (_, _, deviation) in zip(ways, sizes, strict=True)
        )
        if _CLEAR * sqrt(variance) <= _SOUGHT:
            return days
    return None


def below(floor: float, scores: Sequence[DatedScore], today: date, scale: Scale) -> Interval | None:
    """The mean of late, if it is clearly below the floor, whatever it was before; None otherwise.

    It is that since one of the last 14 days.
    """
    counted = _counted(scores, today, None)
    if sum(score.day < today - _WEEK for score in counted) < MIN_BEFORE:
        return None
    model = to_model(tally(counted, today, scale), (floor - scale.low) / unit(scale))
    evidence = dict[date, float]()
    for days_ago in range(1, CANDIDATES + 1):
        day = today - timedelta(days=days_ago)
        late = step(day, today)
        earlier = [1 - share for share in late]
        candidate = model.having(earlier, FREE).having(late)
        chance_above = candidate.estimate(0.0, 1.0).chance_above(0)
        evidence[day] = candidate.evidence * (1 - chance_above)
    since = max(evidence, key=evidence.__getitem__)
    level = _level([score for score in counted if score.day >= since], scale)
    is_below = sum(evidence.values()) >= _BEGINS and level and level.mean < floor
    return level if is_below else None
