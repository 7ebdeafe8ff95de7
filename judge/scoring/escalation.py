"""Decides when a stronger model is asked, and whose verdict counts then."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from statistics import median_low

from judge.scoring.ratings import (
    Rating,
    Result,
    UnscoredReason,
    Verdict,
    add_known,
    add_up,
    mean_of,
    point,
)

TO = " > "
# The cause is the texts or the server, not the judge's doubt, so another model would hardly do
# better.
_NO_DOUBT = {
    UnscoredReason.REFUSED,
    UnscoredReason.FILTERED,
    UnscoredReason.NOTHING_TO_JUDGE,
    UnscoredReason.TOO_LONG,
}


def _models_of(escalation: str) -> tuple[str, str]:
    first, _, stronger = escalation.rpartition(TO)
    return first, stronger


def is_escalated(model: str, escalation: str | None) -> bool:
    return escalation is not None and model == _models_of(escalation)[1]


def counted(verdict: Verdict) -> Sequence[Result]:
    """The ratings that a verdict is based on: all of them, unless a stronger model was asked too."""
    return [rating for rating in verdict.ratings if _is_counted(rating, verdict)]


def others(verdict: Verdict) -> Sequence[Result]:
    """The ratings by the model whose verdict does not count; empty if only one was asked."""
    return [rating for rating in verdict.ratings if not _is_counted(rating, verdict)]


def usable(verdict: Verdict) -> Sequence[Rating]:
    """The ratings with a score that a verdict is based on."""
    return [rating for rating in counted(verdict) if isinstance(rating, Rating)]


def before_calibration(verdict: Verdict) -> int | None:
    """The median of the ratings, if the rubric's calibration changed it into another score;
    otherwise None.
    """
    scores = [rating.score for rating in usable(verdict)]
    middle = median_low(scores) if scores and verdict.is_scored else verdict.score
    return None if middle == verdict.score else middle


def _is_counted(rating: Result, verdict: Verdict) -> bool:
    return is_escalated(rating.model, verdict.escalation) == is_escalated(
        verdict.model, verdict.escalation
    )


def why_of_model(model: str, escalation: str, of_other: Sequence[Result]) -> str:
    """Why the verdict is by `model` when both models were asked; `of_other` are the other's
    ratings.
    """
    first, stronger = _models_of(escalation)
    if not is_escalated(model, escalation):
        return f"{stronger} was asked, too, and gave no score; this is {first}'s own verdict"
    rated = [each for each in of_other if isinstance(each, Rating)]
    scores = {each.score for each in rated}
    if len(scores) > 1:
        spread = f"'s ratings went from {min(scores)} to {max(scores)}"
    elif any(each.probabilities for each in rated):
        spread = "'s probabilities are spread wide"
    else:
        spread = " gave no score to rely on"
    return f"judged by {stronger}, since {first}{spread}"


class Doubt:
    """Decides on which verdicts, on one scale, a stronger model is asked, too.

    Those whose ratings are at least two points apart (see `point`), or do not agree on a score by
    majority; refusals and texts that were not judged are none. Those with probabilities, if these
    are spread as wide as `limit` (their standard deviation); without it, once 20 are known, if
    wider than nine tenths of the last 200.
    """

    def __init__(self, scale: tuple[int, int], limit: float | None) -> None:
        self.limit = limit
        self._scale = scale
        self._recent: deque[float] = deque(maxlen=200)

    def is_about(self, verdict: Verdict) -> bool:
        if verdict.unscored is not None:
            return verdict.unscored.reason not in _NO_DOUBT
        is_split = (verdict.spread or 0) >= 2 * point(self._scale)
        if not verdict.probabilities:
            return is_split
        mean = mean_of(verdict.probabilities)
        width = math.sqrt(
            sum(chance * (score - mean) ** 2 for score, chance in verdict.probabilities.items())
        )
        known = sorted(self._recent)
        self._recent.append(width)
        if self.limit is not None:
            return width >= self.limit
        return width > known[len(known) * 9 // 10] if len(known) >= 20 else is_split


def join(first: Verdict, stronger: Verdict) -> Verdict:
    """The verdict that counts, with the ratings, tokens, time and cost of both models.

    It is the stronger model's, even if that model's ratings split. It is the first model's if at
    least half of the stronger model's ratings have no score, because its calls failed, ran out of
    time or gave none.
    """
    is_split = stronger.unscored is not None and stronger.unscored.reason is UnscoredReason.SPLIT
    return replace(
        stronger if stronger.is_scored or is_split else first,
        ratings=first.ratings + stronger.ratings,
        skipped_ratings=add_known((first.skipped_ratings, stronger.skipped_ratings)),
        **add_up((first, stronger)),
    )
