"""A verdict as it is recorded and shown: what the judge said, or why there is no score."""

from collections.abc import Iterable, Sequence
from statistics import median_low

from pydantic import BaseModel, ConfigDict

from judge import Flag, Rating, Rubric, Unscored, Verdict
from judge.scoring.escalation import counted, others
from judge.scoring.ratings import point

OFFLINE = "offline"
MADE_UP = "made up for the demo"
"""In place of the model if there was none: for the scores that the demo begins with."""
_OF_QUESTION = "question_"


class RecordedRating(BaseModel):
    """One rating: a score, or the reason why it has none."""

    model_config = ConfigDict(frozen=True)

    score: int | None
    unscored_reason: str | None
    justification: str
    raw: str
    model: str
    weighted_score: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: int | None = None
    cost_usd: float | None = None


class RecordedVerdict(BaseModel):
    """A stored verdict. `unscored_reason` is set if and only if `score` is None.

    `judge_version` is everything that makes scores comparable, in words; None if there is no score.

    `flags` are those of the response and, with a prefix, those of the question; unknown ones come from a later version.

    `model` is the one whose verdict counts. `escalation` names the first and the stronger model of a judge that has
    both; `ratings` are then those of both.

    `unscored_detail` is the sentence for the operator; what the requester reads in Slack is written in `verdict_text`.
    """

    model_config = ConfigDict(frozen=True)

    score: int | None
    lowest: int = 0
    highest: int = 5
    mean: float | None = None
    spread: float | None = None
    justification: str = ""
    unscored_reason: str | None = None
    unscored_detail: str | None = None
    model: str
    rubric: str
    rubric_version: str
    judge_version: str | None = None
    weighted_score: float | None = None
    flags: tuple[str, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: int | None = None
    cost_usd: float | None = None
    escalation: str | None = None
    skipped_ratings: int | None = None
    ratings: tuple[RecordedRating, ...] = ()

    @property
    def counted(self) -> Sequence[RecordedRating]:
        """The ratings that the verdict is made of: all, or if two models were asked, those of the one that counts."""
        return counted(self.ratings, self.model, self.escalation)

    @property
    def before_calibration(self) -> int | None:
        """The median of the ratings, if the rubric's calibration changed it into another score; otherwise None."""
        scores = [rating.score for rating in self.counted if rating.score is not None]
        middle = median_low(scores) if scores and self.score is not None else self.score
        return None if middle == self.score else middle

    @property
    def others(self) -> Sequence[RecordedRating]:
        """The ratings of the model that does not count; empty if only one was asked."""
        return others(self.ratings, self.model, self.escalation)

    @property
    def is_offline(self) -> bool:
        return self.model == OFFLINE

    @property
    def span(self) -> tuple[int, int]:
        """The lowest and the highest usable rating.

        Raises:
            ValueError: There is none.
        """
        scores = [rating.score for rating in self.counted if rating.score is not None]
        return min(scores), max(scores)

    @property
    def is_split(self) -> bool:
        """Whether the ratings clearly disagree: they are two points apart, or more."""
        return bool(self.ratings) and (self.spread or 0) >= 2 * point((self.lowest, self.highest))

    @property
    def response_flags(self) -> Sequence[Flag]:
        return [flag for flag in Flag if flag in self.flags]

    @property
    def question_flags(self) -> Sequence[Flag]:
        return [flag for flag in Flag if f"{_OF_QUESTION}{flag}" in self.flags]


def from_verdict(
    verdict: Verdict, rubric: Rubric, judge_version: str, question_flags: Iterable[Flag] = ()
) -> RecordedVerdict:
    unscored = verdict.unscored
    changes = {
        "lowest": rubric.scale.low,
        "highest": rubric.scale.high,
        "unscored_reason": unscored and unscored.reason,
        "unscored_detail": unscored and unscored.detail,
        "judge_version": judge_version if verdict.is_scored else None,
        "flags": [*verdict.flags, *(f"{_OF_QUESTION}{flag}" for flag in question_flags)],
        "ratings": [_recorded(rating) for rating in verdict.ratings],
    }
    return RecordedVerdict.model_validate(vars(verdict) | changes)


def without_score(reason: str, detail: str, model: str, rubric: Rubric) -> RecordedVerdict:
    """A verdict without a score, because there was nothing to judge, or the model could not be asked."""
    return RecordedVerdict(
        score=None,
        unscored_reason=reason,
        unscored_detail=detail,
        model=model,
        rubric=rubric.name,
        rubric_version=rubric.version,
    )


def _recorded(result: Rating | Unscored) -> RecordedRating:
    if isinstance(result, Rating):
        return RecordedRating(**vars(result), unscored_reason=None)
    return RecordedRating(**vars(result), score=None, unscored_reason=result.reason, justification=result.detail)
