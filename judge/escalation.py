"""When a stronger model is asked, and whose verdict counts then."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from judge.ratings import UnscoredReason, Verdict, add_known, add_up, point

_TO = " > "
# The texts or the server are why, and not the judge's doubt; another model would hardly do better.
_NO_DOUBT = {
    UnscoredReason.REFUSED,
    UnscoredReason.FILTERED,
    UnscoredReason.NOTHING_TO_JUDGE,
    UnscoredReason.TOO_LONG,
}


class HasModel(Protocol):
    @property
    def model(self) -> str: ...


Asked = TypeVar("Asked", bound=HasModel)


def to_escalation(first: str, stronger: str) -> str:
    return f"{first}{_TO}{stronger}"


def models_of(escalation: str) -> tuple[str, str]:
    first, _, stronger = escalation.rpartition(_TO)
    return first, stronger


def is_escalated(model: str, escalation: str | None) -> bool:
    return escalation is not None and model == models_of(escalation)[1]


def counted(ratings: Sequence[Asked], model: str, escalation: str | None) -> Sequence[Asked]:
    """Those of the ratings that a verdict of `model` is made of: all, unless a stronger model was asked as well."""
    return [rating for rating in ratings if is_escalated(rating.model, escalation) == is_escalated(model, escalation)]


def others(ratings: Sequence[Asked], model: str, escalation: str | None) -> Sequence[Asked]:
    """Those of the model whose verdict does not count."""
    return [rating for rating in ratings if is_escalated(rating.model, escalation) != is_escalated(model, escalation)]


def why_of_model(model: str, escalation: str, scores_of_other: Sequence[int]) -> str:
    """Why a verdict is that of `model` where both were asked; the usable scores are those of the other one."""
    first, stronger = models_of(escalation)
    if not is_escalated(model, escalation):
        return f"{stronger} was asked, too, and gave no score; this is {first}'s own verdict"
    if len(set(scores_of_other)) > 1:
        spread = f"'s ratings went from {min(scores_of_other)} to {max(scores_of_other)}"
    else:
        spread = " gave no score to rely on"
    return f"judged by {stronger}, since {first}{spread}"


def is_doubtful(verdict: Verdict, scale: tuple[int, int]) -> bool:
    """Whether the ratings are two points apart or more, or hold no score that most of them stand for.

    A point is that of `point`: 1 from 0 to 5. A refusal is no doubt, and neither is a text that was not judged.
    """
    if verdict.unscored is not None:
        return verdict.unscored.reason not in _NO_DOUBT
    return (verdict.spread or 0) >= 2 * point(scale)


def join(first: Verdict, stronger: Verdict) -> Verdict:
    """The verdict that counts, with the ratings of both models, and what both took.

    It is the stronger model's, also where that one's ratings split; but the first one's, where most of the stronger
    model's ratings have no score: because it could not be asked, ran out of time, or wrote none.
    """
    is_split = stronger.unscored is not None and stronger.unscored.reason is UnscoredReason.SPLIT
    return replace(
        stronger if stronger.is_scored or is_split else first,
        ratings=first.ratings + stronger.ratings,
        skipped_ratings=add_known((first.skipped_ratings, stronger.skipped_ratings)),
        **add_up((first, stronger)),
    )
