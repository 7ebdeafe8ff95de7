"""The standing of an assistant: whether its level has changed, looked at once a day.

A first version: it knows the level and no change yet.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import NamedTuple

from judge.evaluation.stats import Interval, MeanEstimator
from judge.scoring.rubric import Scale

MIN_SCORES = 30
"""With fewer scores older than seven days there are too few."""


class DatedScore(NamedTuple):
    """One scored reply; scores of one thread depend on each other."""

    score: int
    day: date
    channel: Hashable = None
    thread: Hashable = None


class Direction(StrEnum):
    """What is known of a level."""

    TOO_FEW = "too few"
    STEADY = "steady"
    LOWER = "lower"
    HIGHER = "higher"


class Event(StrEnum):
    """What a look has found."""

    BEGAN = "began"
    FURTHER = "further"
    BACK = "back"
    STAYED = "stayed"


@dataclass(frozen=True)
class State:
    """What is remembered between two looks."""

    direction: Direction = Direction.TOO_FEW
    origin: date | None = None
    since: date | None = None
    step: float = 0.0
    found_on: date | None = None
    ended: tuple[date, ...] = ()


@dataclass(frozen=True)
class Look:
    """The next state, what has happened, and the level with its range."""

    state: State
    event: Event | None
    level: Interval
    n: int
    before: float | None
    step: Interval | None


def look(scores: Sequence[DatedScore], today: date, scale: Scale, state: State) -> Look:
    """Looks at the scores of the days before today, at least one."""
    old = [score for score in scores if score.day < today - timedelta(days=7)]
    recent = [score for score in scores if score.day >= today - timedelta(days=28)] or scores
    mean = MeanEstimator(scale)
    for number, score in enumerate(recent):
        mean.add(score.score, cluster=score.thread or number)
    estimate = mean.estimate()
    if estimate is None:
        raise ValueError("no scores")
    direction = Direction.STEADY if len(old) >= MIN_SCORES else Direction.TOO_FEW
    state = replace(state, direction=direction)
    return Look(state, None, estimate.judge, estimate.n, None, None)
