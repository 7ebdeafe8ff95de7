"""What a comparison of two judges comes to."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from bot.store.rubrics import ReplayedCase
from judge.rubric import Scale
from judge.stats import Interval, MeanEstimator


@dataclass(frozen=True)
class ReplayFigures:
    """Of the cases to which both judges gave a score; before and now are the judge in use and the one to be.

    Attributes:
        n: How many cases.
        blind: How many of these were labelled by people who had not seen the score.
        of_others: How many of these other judges had scored, so that both were asked.
        unscored: How many more have no score by one of the two.
        off_before, off_now: How many points, on average, a score is away from what people gave.
        closer: How many points the scores now are closer to people, paired by case; below 0 they are farther.
        same_before, same_now: How many scores are what people gave.
        mean_before, mean_now, mean_people: The means.
    """

    n: int
    blind: int
    of_others: int
    unscored: int
    off_before: float
    off_now: float
    closer: Interval
    same_before: int
    same_now: int
    mean_before: float
    mean_now: float
    mean_people: float


def replay_figures(
    cases: Sequence[ReplayedCase], before_version: str, now_version: str, scale: Scale
) -> ReplayFigures | None:
    """The figures of two judge versions on `scale`; None where no case has a score by both.

    Where several people labelled a case, it is their mean.
    """
    rows = [
        (each, before, now, fmean(each.labels))
        for each in cases
        if (before := each.scores.get(before_version)) is not None and (now := each.scores.get(now_version)) is not None
    ]
    width = scale.high - scale.low
    closer = MeanEstimator(Scale(-width, width))
    for each, before, now, people in rows:
        closer.add(abs(before - people) - abs(now - people), cluster=each.thread)
    estimate = closer.estimate()
    if estimate is None:
        return None
    return ReplayFigures(
        n=len(rows),
        blind=sum(each.is_blind for each, *_ in rows),
        of_others=sum(each.logged_by not in {before_version, now_version} for each, *_ in rows),
        unscored=len(cases) - len(rows),
        off_before=fmean(abs(before - people) for _, before, _, people in rows),
        off_now=fmean(abs(now - people) for *_, now, people in rows),
        closer=estimate.judge,
        same_before=sum(before == people for _, before, _, people in rows),
        same_now=sum(now == people for *_, now, people in rows),
        mean_before=fmean(before for _, before, *_ in rows),
        mean_now=fmean(now for *_, now, _ in rows),
        mean_people=fmean(people for *_, people in rows),
    )
