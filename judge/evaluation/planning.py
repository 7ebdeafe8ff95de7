"""How much labels would tell: how far more of them narrow a figure, and which difference a
comparison would show.
"""

from dataclasses import replace
from math import floor, sqrt
from statistics import NormalDist

from judge.evaluation.distributions import t_quantile
from judge.evaluation.stats import Interval, MeanEstimate


def within(found: MeanEstimate, more: int) -> float:
    """How far the corrected mean's interval would reach to each side, on average, with so many more
    labels.

    Very few labels do not show how far they will be from the scores; then they are taken to spread
    as scores do.
    """
    labels = found.labelled + more
    rest = found.by_scores
    of_a_label = (found.corrected_variance - rest) * found.labelled
    if found.labelled < 8:  # too few to show it
        of_a_label = found.variance * found.independent
        rest = 0.0
    then = replace(
        found,
        corrected=found.corrected or found.judge,
        corrected_variance=of_a_label / labels + rest,
        effective=labels * (found.effective / found.labelled if found.labelled else 1),
    )
    reach = then.interval(0.025, is_corrected=True)
    if reach.low is None or reach.high is None:
        return (found.scale.high - found.scale.low) / 2
    return (reach.high - reach.low) / 2


def to_be_seen(difference: Interval, n: float) -> float | None:
    """How large a drop would be clear in 4 of 5 samples like that of this difference, which is of
    `n` independent ones; None if it has no ends.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.10, for the
    noncentral t. A normal test would be clear more often than the one that is used.
    """
    if difference.high is None:
        return None
    t = t_quantile(_freedom(n))
    return (difference.high - difference.mean) / t * _errors_to_be_seen(n)


def more_to_see(difference: Interval, n: float, drop: float) -> int | None:
    """How many independent ones would show that drop in 4 of 5 samples; None if it has no ends, or
    ten thousand would not.
    """
    if difference.high is None:
        return None
    deviation = (difference.high - difference.mean) / t_quantile(_freedom(n)) * sqrt(n)
    for number in range(2, 10_001):
        if deviation / sqrt(number) * _errors_to_be_seen(number) <= drop:
            return number
    return None


def _errors_to_be_seen(n: float) -> float:
    """How many standard errors a drop must have, where the error is known from `n` alone."""
    freedom = _freedom(n)
    t = t_quantile(freedom)
    at_least = t * (1 - 1 / (4 * freedom))
    errors = at_least
    # The error of this sample, in which the drop is told, is as uncertain as that of the next one.
    for _ in range(20):
        spread = 1 + (t**2 + errors**2) / (2 * freedom)
        errors = at_least + NormalDist().inv_cdf(0.8) * sqrt(spread)
    return errors


def _freedom(n: float) -> int:
    return max(floor(n + 1e-9) - 1, 1)
