"""How much labels would tell: how far more of them narrow a figure, and which difference a
comparison would show.
"""

from dataclasses import replace
from statistics import NormalDist

from judge.evaluation.stats import Interval, MeanEstimate

MORE_LABELS = 25, 50, 100


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


def more_for(found: MeanEstimate, reach: float) -> int | None:
    """How many more labels would narrow it to `reach` to each side; None if a thousand would not."""
    return next(
        (more for more in range(max(found.missing, 1), 1001) if within(found, more) <= reach), None
    )


def to_be_seen(difference: Interval) -> float | None:
    """How large a difference would be clear in 4 of 5 samples like that of this one; None if it has
    no ends.
    """
    if difference.low is None or difference.high is None:
        return None
    quantile = NormalDist().inv_cdf
    times = 1 + quantile(0.8) / quantile(0.975)
    return times * (difference.high - difference.low) / 2
