"""What is known of an assistant's scores from day to day: steady, lower or higher, and since when.

    state = State()
    found = look(scores, today, Scale(0, 5), state)     # once a day; `found.state` is for the next look
    step_at(scores, date(2026, 11, 12), today, Scale(0, 5))     # by how much a release changed them

A look tests for a step at each of the last 14 days, in both directions. A step that was found is
remembered, and remains in the model: from then on the question is whether the level is the old one
again. It is answered by a step back, or by what is left of the first, or after four weeks, when the
level is the assistant's own. `judge/evaluation/directions.py` has the rules.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import sqrt
from statistics import fmean

from judge.evaluation.directions import BEGINS, MONTH, Direction, Event, Finding, State, find
from judge.evaluation.stats import Interval, estimate_mean
from judge.evaluation.steps import CANDIDATES, FREE, Model, step, to_model
from judge.evaluation.tally import WINDOW, DatedScore, Tally, tally, unit
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
_WEEK = timedelta(days=7)
_SOUGHT = 0.5  # the change after a release that is waited for, in points
_CLEAR = 1.96 + 0.84  # standard errors of a change that is clear in 80%


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
    if _are_too_few(counted, today):
        return _seen(Finding(State(origin=state.origin)), counted, today, scale)
    first = min(score.day for score in counted)
    known = sorted(day for day in (*state.ended, state.since) if day and day > first)
    model = to_model(tally(counted, today, scale, known))
    for day in known:
        model = model.having(step(day, today))
    return _seen(find(model, state, known, today, scale), counted, today, scale)


def _counted(scores: Sequence[DatedScore], today: date, origin: date | None) -> list[DatedScore]:
    first = today - timedelta(days=WINDOW)
    if origin is not None:
        first = max(first, origin)
    return [score for score in scores if first <= score.day < today]


def _are_too_few(counted: Sequence[DatedScore], today: date) -> bool:
    return sum(score.day < today - _WEEK for score in counted) < MIN_BEFORE


def _seen(finding: Finding, scores: Sequence[DatedScore], today: date, scale: Scale) -> Look:
    """The look, with its levels."""
    state = finding.state
    start = today - MONTH
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
    first = max([day - MONTH, *(other for other in known if other < day)])
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
    model = to_model(known)
    for days in range(7, MONTH.days + 1, 7):
        end = day + timedelta(days=days)
        if end < today:
            continue
        ahead = to_model(known.at(today, end)).having(step(day, end), FREE)
        if _CLEAR * _error_ahead(ahead, model) <= _SOUGHT:
            return days
    return None


def _error_ahead(ahead: Model, known: Model) -> float:
    """The standard error of a change with the scores ahead."""
    sizes = ahead.estimate(1.0).parts
    # The ways are weighed by the scores that are known: those ahead are made up.
    variance = sum(
        way.weight * deviation**2 for way, (_, _, deviation) in zip(known.fits, sizes, strict=True)
    )
    return sqrt(variance)


def below(floor: float, scores: Sequence[DatedScore], today: date, scale: Scale) -> Interval | None:
    """The mean of late, if it is clearly below the floor, whatever it was before; None otherwise.

    It is that since one of the last 14 days.
    """
    counted = _counted(scores, today, None)
    if _are_too_few(counted, today):
        return None
    evidence = _evidence_below(
        (floor - scale.low) / unit(scale), tally(counted, today, scale), today
    )
    since = max(evidence, key=evidence.__getitem__)
    level = _level([score for score in counted if score.day >= since], scale)
    is_below = sum(evidence.values()) >= BEGINS and level and level.mean < floor
    return level if is_below else None


def _evidence_below(floor: float, counted: Tally, today: date) -> dict[date, float]:
    """The evidence that the level is below the floor, in points, since each of the last days."""
    model = to_model(counted, floor)
    evidence = dict[date, float]()
    for days_ago in range(1, CANDIDATES + 1):
        day = today - timedelta(days=days_ago)
        late = step(day, today)
        earlier = [1 - share for share in late]
        candidate = model.having(earlier, FREE).having(late)
        chance_above = candidate.estimate(0.0, 1.0).chance_above(0)
        evidence[day] = candidate.evidence * (1 - chance_above)
    return evidence
