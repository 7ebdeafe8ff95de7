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

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from math import sqrt
from typing import NamedTuple

from judge.evaluation.stats import Interval, MeanEstimator
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
_HALF = 0.5
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
        found_on: The day of the look that found it.
        ended: The days of other steps that remain in the model: those of the directions that have
            ended, and their ends; a further step of this one.
    """

    direction: Direction = Direction.TOO_FEW
    origin: date | None = None
    since: date | None = None
    step: float = 0.0
    found_on: date | None = None
    ended: tuple[date, ...] = ()


@dataclass(frozen=True)
class Look:
    """What a look has found.

    Attributes:
        state: For the next look.
        level: The mean since the step, or of the last four weeks; None without a score.
        n: How many scores these are.
        before: The level before the step; None without a direction.
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
    if sum(each.day < today - _WEEK for each in counted) < MIN_BEFORE:
        return _seen(_Found(State(origin=state.origin)), counted, today, scale)
    first = min(each.day for each in counted)
    known = sorted(day for day in (*state.ended, state.since) if day and day > first)
    model = _model(counted, today, scale, known)
    if state.since is None:
        steady = replace(state, direction=Direction.STEADY, ended=tuple(known))
        found = _begun(model, steady, today, scale)
    else:
        found = _gone_on(model, state, state.since, known, today, scale)
    return _seen(found, counted, today, scale)


@dataclass(frozen=True)
class _Found:
    """What a look has found, but for the levels; `size` is that of all steps of the direction."""

    state: State
    event: Event | None = None
    size: Estimate | None = None
    turned: date | None = None


def _counted(scores: Sequence[DatedScore], today: date, origin: date | None) -> list[DatedScore]:
    first = today - timedelta(days=WINDOW)
    if origin is not None:
        first = max(first, origin)
    return [each for each in scores if first <= each.day < today]


def _model(
    scores: Sequence[DatedScore], today: date, scale: Scale, known: Collection[date]
) -> Model:
    model = to_model(tally(scores, today, scale, known))
    for day in known:
        model = model.having(step(day, today))
    return model


class _Candidate(NamedTuple):
    """One more step, on that day."""

    day: date
    model: Model
    up: float  # the evidence that it leads up
    down: float

    def evidence(self, sign: int) -> float:
        return self.up if sign > 0 else self.down

    def size(self, *shares: float) -> Estimate:
        """The size of the step, and such shares of those known."""
        others = len(self.model.designs) - len(shares) - 1
        return self.model.estimate(*[0.0] * others, *shares, 1.0)


def _candidates(model: Model, first: date, today: date) -> list[_Candidate]:
    found = []
    for days_ago in range(CANDIDATES, 0, -1):
        day = today - timedelta(days=days_ago)
        # A day without a score is the same step as the next one with a score.
        if day >= first and model.information[WINDOW - days_ago][WINDOW - days_ago]:
            with_step = model.having(step(day, today))
            evidence = with_step.evidence
            candidate = _Candidate(day, with_step, evidence, evidence)
            up = candidate.size().chance_above(0)
            found.append(candidate._replace(up=evidence * up, down=evidence * (1 - up)))
    return found


def _begun(model: Model, state: State, today: date, scale: Scale) -> _Found:
    """Whether a direction begins."""
    candidates = _candidates(model, date.min, today)
    if not candidates:
        return _Found(state)
    up = sum(each.up for each in candidates)
    down = sum(each.down for each in candidates)
    sign = 1 if up > down else -1
    clearest = max(candidates, key=lambda each: each.evidence(sign))
    size = clearest.size()
    if max(up, down) < _BEGINS or sign * size.mean < _LEAST:
        return _Found(state)
    begun = replace(
        state,
        direction=Direction.HIGHER if sign > 0 else Direction.LOWER,
        since=clearest.day,
        step=size.mean * unit(scale),
        found_on=today,
    )
    return _Found(begun, Event.BEGAN, size)


def _gone_on(
    model: Model, state: State, since: date, known: Sequence[date], today: date, scale: Scale
) -> _Found:
    """Whether a direction goes on, goes further or ends."""
    sign = 1 if state.direction is Direction.HIGHER else -1
    told = state.step / unit(scale)
    steps = [since, *(day for day in state.ended if day > since)]
    steady = State(Direction.STEADY, state.origin, ended=tuple(known))
    stayed = _Found(State(Direction.STEADY, origin=steps[-1]), Event.STAYED)
    if since not in known:
        # No score from before the step is left to compare with.
        return stayed
    left = model.estimate(*[float(day in steps) for day in known])
    if today - steps[-1] >= _MONTH:
        is_there = sign * left.mean >= sign * told * _HALF
        return stayed if is_there else _Found(steady, Event.BACK)
    candidates = _candidates(model, steps[-1] + timedelta(days=1), today)
    if candidates:
        back = max(candidates, key=lambda each: each.evidence(-sign))
        # What is left, less half of the step as it was: below 0 if the level is nearer to the old.
        middle = back.size(*[_HALF for _ in steps])
        evidence = sum(each.evidence(-sign) for each in candidates)
        if evidence >= _ENDS and _chance(middle, -sign, 0) >= _NEARER:
            ended = tuple(sorted([*known, back.day]))
            return _Found(replace(steady, ended=ended), Event.BACK, turned=back.day)
        further = max(candidates, key=lambda each: each.evidence(sign))
        evidence = sum(each.evidence(sign) for each in candidates)
        if evidence >= _BEGINS and sign * further.size().mean >= sign * told * _HALF:
            size = further.size(*[1.0 for _ in steps])
            ended = tuple(sorted([*state.ended, further.day]))
            gone = replace(state, step=size.mean * unit(scale), found_on=today, ended=ended)
            return _Found(gone, Event.FURTHER, size)
    if _chance(left, -sign, told * _HALF) >= _WORN or sign * left.mean <= 0:
        return _Found(steady, Event.BACK)
    return _Found(state, size=left)


def _chance(size: Estimate, sign: int, limit: float) -> float:
    """The chance that a size is above the limit, or with a sign of -1 below it."""
    above = size.chance_above(limit)
    return above if sign > 0 else 1 - above


def _seen(found: _Found, scores: Sequence[DatedScore], today: date, scale: Scale) -> Look:
    """The look, with its levels."""
    state = found.state
    start = today - _MONTH
    if state.since:
        start = max([state.since, *state.ended])
    late = [each for each in scores if each.day >= start]
    level = _level(late, scale)
    if level is None or found.size is None:
        return Look(state, found.event, level, len(late), turned=found.turned)
    change = found.size.interval(scale)
    before = min(max(level.mean - change.mean, scale.low), scale.high)
    return Look(state, found.event, level, len(late), before, change)


def _level(scores: Sequence[DatedScore], scale: Scale) -> Interval | None:
    """The mean with its range; scores of a thread are a cluster."""
    alone = Counter(each.score for each in scores if each.thread is None)
    threads = defaultdict[Hashable, list[int]](list)
    for each in scores:
        if each.thread is not None:
            threads[each.channel, each.thread].append(each.score)
    clusters = Counter((len(thread), sum(thread)) for thread in threads.values())
    clusters.update({(1, score): number for score, number in alone.items()})
    mean = MeanEstimator(scale)
    for (n, total), number in clusters.items():
        mean.add_clusters(n, total, number)
    estimate = mean.estimate()
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
    before = sum(each.day < day for each in counted)
    if before < MIN_BEFORE or len(counted) - before < MIN_AFTER:
        return None
    first = min(each.day for each in counted)
    others = sorted({other for other in known if first < other and other != day})
    model = to_model(tally(counted, today, scale, [*others, day]))
    for other in others:
        model = model.having(step(other, today))
    return (
        model.having(step(day, today), FREE).estimate(*[0.0 for _ in others], 1.0).interval(scale)
    )


def days_until_clear(
    scores: Sequence[DatedScore], day: date, today: date, scale: Scale, times: float = 1.0
) -> int | None:
    """How many whole weeks after that day, in days, a change of half a point (of five) on it is
    clear in four of five cases; None if that takes more than four weeks, or too few are scored.

    Args:
        times: If so many times as many replies are scored from today on as in the last four weeks.
    """
    counted = _counted(scores, today, None)
    if len(counted) < MIN_BEFORE:
        return None
    found = tally(counted, today, scale, [day])
    fits = to_model(found).fits
    for days in range(7, _MONTH.days + 1, 7):
        end = day + timedelta(days=days)
        if end < today:
            continue
        ahead = to_model(found.at(today, end, times)).having(step(day, end), FREE)
        sizes = [
            weight * deviation**2
            for (weight, _, _), (_, _, deviation) in zip(
                fits, ahead.estimate(1.0).parts, strict=True
            )
        ]
        if _CLEAR * sqrt(sum(sizes)) <= _SOUGHT:
            return days
    return None


def below(floor: float, scores: Sequence[DatedScore], today: date, scale: Scale) -> Interval | None:
    """The mean of late, if it is clearly below the floor, whatever it was before; None otherwise.

    It is that since one of the last 14 days.
    """
    counted = _counted(scores, today, None)
    if sum(each.day < today - _WEEK for each in counted) < MIN_BEFORE:
        return None
    model = to_model(tally(counted, today, scale), (floor - scale.low) / unit(scale))
    evidence = dict[date, float]()
    for days_ago in range(1, CANDIDATES + 1):
        day = today - timedelta(days=days_ago)
        late = step(day, today)
        earlier = [1 - each for each in late]
        candidate = model.having(earlier, FREE).having(late)
        evidence[day] = candidate.evidence * _chance(candidate.estimate(0.0, 1.0), -1, 0)
    since = max(evidence, key=evidence.__getitem__)
    level = _level([each for each in counted if each.day >= since], scale)
    is_below = sum(evidence.values()) >= _BEGINS and level and level.mean < floor
    return level if is_below else None
