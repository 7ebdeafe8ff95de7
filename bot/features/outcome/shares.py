"""Shares of questions with their ranges; those of one thread depend on each other."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from bot.domain.outcome import Outcome, Sign, with_signs
from judge.evaluation.stats import Interval, MeanEstimate, MeanEstimator, difference
from judge.scoring.rubric import Scale

_SHARE = Scale(0, 1)
FEWEST_CONTESTED = 5
TAIL = 0.001
"""So small because it is looked at each week: `python -m bench.contested` says how often it is false."""


class Shares(NamedTuple):
    """How many questions have an outcome, and the share of each sign among them."""

    number: int
    signs: Mapping[Sign, Interval]


class Contested(NamedTuple):
    """The share of good scores whose reply the asker contested, and the same before."""

    now: Interval
    before: Interval


def shares_of(outcomes: Sequence[Outcome]) -> Shares:
    """The share of each sign, with its range, among the questions with an outcome."""
    known = with_signs(outcomes)
    shares = dict[Sign, Interval]()
    for sign in Sign:
        estimate = _estimate(known, sign)
        if estimate and estimate.judge.low is not None:
            shares[sign] = estimate.judge
    return Shares(len(known), shares)


def _estimate(outcomes: Sequence[Outcome], sign: Sign) -> MeanEstimate | None:
    share = MeanEstimator(_SHARE)
    for outcome in outcomes:
        share.add(float(sign in outcome.signs), cluster=outcome.question.thread)
    return share.estimate()


def more_contested(
    outcomes: Sequence[Outcome], since: datetime, before: datetime
) -> Contested | None:
    """The shares of two times if it is clear that the one from `since` on is higher than the one
    from `before` to then; of replies with good scores, of which it is known what askers said.
    """
    now = [outcome for outcome in outcomes if outcome.question.asked_at >= since]
    if sum(Sign.CONTESTED in outcome.signs for outcome in now) < FEWEST_CONTESTED:
        return None
    this = _estimate(now, Sign.CONTESTED)
    earlier = [outcome for outcome in outcomes if before <= outcome.question.asked_at < since]
    last = _estimate(earlier, Sign.CONTESTED)
    change = difference(this, last, TAIL) if this and last else None
    if this and last and change and change.low is not None and change.low > 0:
        return Contested(this.judge, last.judge)
    return None
