"""Results: of one model call (`Rating` or `Unscored`), and of several together (`Verdict`)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from itertools import accumulate
from statistics import fmean, median, median_low
from typing import Any, Self, TypeAlias

from judge.scoring.rubric import Rubric

_MOST_RAW_CHARS = 20_000
_CUT_MARK = "\n[…]\n"
_TAIL = 0.1


class _WithWords(StrEnum):
    """Members are strings, written with the words that say the same to people."""

    words: str

    def __new__(cls, value: str, words: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.words = words
        return member


class UnscoredReason(_WithWords):
    """Why there is no score; in words, too, unless the detail depends on the case.

    The values are stored and exported, so they never change.

    Attributes:
        INVALID: A decision's answers are not those to its questions, or their probabilities are not
            valid.
        CALL_FAILED: The call of the model failed.
        NO_MAJORITY: Some ratings have a score, but no more than half; or all lack one, for
            different reasons.
        SPLIT: No more than half of the scores are within a point of their median.
        NOTHING_TO_JUDGE: A text is empty, or the response is not an answer at all; see
            `nothing_to_judge`.
        TOO_LONG: A text has more than 100,000 characters, or more than the server accepts.
        NO_REFERENCE: The rubric compares with a reference, and there is none.
    """

    EMPTY = "empty", "The model wrote nothing."
    REFUSED = "refused", "The model refused to judge."
    FILTERED = "filtered", "The server's content filter withheld the answer."
    TRUNCATED = "truncated", "The model's answer is cut off."
    THINKING = (
        "thinking",
        (
            "The model's thinking used up the tokens of its answer; lower JUDGE_EFFORT, or "
            "raise JUDGE_ANSWER_TOKENS."
        ),
    )
    NO_SCORE = "no_score", "The model's answer states no score for the response as a whole."
    ECHOED = "echoed_template", "The model echoed the answer format instead of filling it in."
    NOT_ASSERTED = "not_asserted", "The model only quotes, denies or supposes a score."
    OFF_SCALE = "off_scale", "The model's score is not on the scale from {} to {}."
    NOT_WHOLE = "not_whole", "The model's score is not a whole number."
    UNCLEAR = "unclear", "The model's score is a range or a guess, not one number."
    CONFLICTING = "conflicting", "The model states several scores that do not agree."
    INVALID = "invalid_answer"
    CALL_FAILED = "call_failed"
    NO_MAJORITY = "no_majority"
    SPLIT = "split"
    NOTHING_TO_JUDGE = "nothing_to_judge"
    TOO_LONG = "too_long"
    NO_REFERENCE = "no_reference"


class Flag(_WithWords):
    """A warning to consider before trusting a score; `words` go on after "the response".

    The values are stored and exported, so they never change. `HOLDS_TAGS` counts in the question,
    too.
    """

    ASKS_FOR_SCORE = "asks_for_score", "asks for a score"
    GIVES_ORDERS = "gives_orders", "gives the judge orders"
    HOLDS_TAGS = "holds_tags", "imitates the judge's prompt"
    AFTER_ORDERS = (
        "after_orders",
        "follows a message that gives the judge orders or asks for a score",
    )
    AGAINST_ORDERS = (
        "against_orders",
        "is compared with a reference that gives the judge orders or asks for a score",
    )


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What a result took, with the second request if the score was asked for again; None where it
    is not known.

    If one request gave several ratings, the first of them carries all of it.

    Attributes:
        input_tokens: Tokens of the prompt.
        output_tokens: Tokens of what the model wrote.
        reasoning_tokens: How many of these went into thinking.
        latency_ms: From request to answer; of a verdict the sum, though some requests run at once.
        cost_usd: The cost of the counted tokens in US dollars, if the price is known for certain.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    latency_ms: int | None = None
    cost_usd: float | None = None


SPENT = tuple(each.name for each in fields(Spent))


@dataclass(frozen=True, kw_only=True)
class Rating(Spent):
    """The result of one model call with a usable score.

    Attributes:
        score: A whole number on the rubric's scale.
        justification: At most 100 words; "" from distributions and decisions.
        raw: The unchanged completion; if the score was asked for again, both answers with a blank
            line between them. A verdict's ratings keep 20,000 characters of it, from both ends.
        model: The model's name; "" if it is not known.
        served: The name of the model in the server's answer, which may be another one; None if it
            gives none.
        weighted_score: The mean of the scale's scores, weighted by the probability that the model
            gave to each; None without probabilities.
        probabilities: That of each score, together 1; None if the score was asked for as text.
        coverage: How much of the probability lay on numbers of the scale; if too little, this is a
            rating by text.
        points: The probability that each criterion of the rubric is met, None if the model
            declined; from decisions.

    Source: G-Eval for `weighted_score`, arXiv 2303.16634.
    """

    score: int
    justification: str
    raw: str
    model: str = ""
    served: str | None = None
    weighted_score: float | None = None
    probabilities: Mapping[int, float] | None = None
    coverage: float | None = None
    points: Mapping[str, float | None] | None = None


@dataclass(frozen=True, kw_only=True)
class Unscored(Spent):
    """No usable score, and why.

    Attributes:
        reason: The reason for programs.
        detail: The reason for people, in one plain sentence.
        raw: The completion, as in `Rating`; "" if no answer came.
        model: The model's name; "" if it is not known.
        served: As in `Rating`.
        coverage: As in `Rating`.
    """

    reason: UnscoredReason
    detail: str
    raw: str = ""
    model: str = ""
    served: str | None = None
    coverage: float | None = None


def unscored(reason: UnscoredReason, scale: tuple[int, int], raw: str = "") -> Unscored:
    """An answer without a usable score, with the plain sentence that goes with `reason`."""
    return Unscored(reason=reason, detail=reason.words.format(*scale), raw=raw)


Result: TypeAlias = Rating | Unscored


def with_short_raw(result: Result) -> Result:
    """`result` with at most 20,000 characters of `raw`: half from its beginning, half from its end,
    and a mark.
    """
    if len(result.raw) <= _MOST_RAW_CHARS:
        return result
    half = (_MOST_RAW_CHARS - len(_CUT_MARK)) // 2
    return replace(result, raw=f"{result.raw[:half]}{_CUT_MARK}{result.raw[-half:]}")


@dataclass(frozen=True, kw_only=True)
class Verdict(Spent):
    """The result of all ratings. Exactly one of `score` and `unscored` is set.

    Attributes:
        score: The median of the usable ratings, if most of them are near it; of two middle ones,
            the lower. None if unscored.
        unscored: Why there is no score; None if there is one.
        mean: The mean of the usable scores, or that of `probabilities`; None without any.
        weighted_score: The mean of the usable ratings' weighted scores; None if one of them has
            none.
        spread: Highest minus lowest usable score, None without any; with `probabilities`, how far
            the middle 80% reach.
        justification: From a rating that gave the median; "" if unscored.
        ratings: A `Rating` or `Unscored` for each rating asked for, in the order of asking.
        basis: How many of the ratings are usable, in the words "2 of 3".
        model: The model's name, or "offline"; the models of a panel are joined by ", ".
        rubric: The rubric's name.
        rubric_version: First eight hex digits of the SHA-256 of the rubric's text.
        flags: Warnings to consider before trusting the score; empty for nearly all responses.
        skipped_ratings: How many ratings were not asked for because none could have changed the
            score; None if the judge always asks for all.
        probabilities: That of each score, as the mean of the usable ratings' own; None if one of
            them has none.
        points: The same for the rubric's criteria.
        ask: How the judge asks, if not for text with default settings: "decision", "effort low".
    """

    score: int | None
    unscored: Unscored | None
    mean: float | None
    spread: int | None
    justification: str
    ratings: tuple[Result, ...]
    basis: str
    model: str
    rubric: str
    rubric_version: str
    weighted_score: float | None = None
    flags: tuple[Flag, ...] = ()
    skipped_ratings: int | None = None
    probabilities: Mapping[int, float] | None = None
    points: Mapping[str, float | None] | None = None
    ask: str | None = None

    @property
    def is_scored(self) -> bool:
        """Whether `score` is set."""
        return self.score is not None

    @property
    def usable(self) -> Sequence[Rating]:
        """The ratings with a score."""
        return [rating for rating in self.ratings if isinstance(rating, Rating)]

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain dicts, lists, strings and numbers, ready for `json.dumps`."""
        fields = asdict(self)
        return fields | {"flags": list(self.flags), "ratings": list(fields["ratings"])}


def combine(
    results: Sequence[Result], *, rubric: Rubric, unscored: Unscored | None = None, **of_judge: Any
) -> Verdict:
    """The verdict on `results`: their median if more than half are usable, and more than half of
    these are near it.

    Near means within one `point` of the scale. Otherwise the verdict is unscored. `unscored` is the
    reason to give if no model was asked, so that `results` is empty. `of_judge` are the other
    fields of the verdict.
    """
    usable = [result for result in results if isinstance(result, Rating)]
    why = unscored or _why_unscored(results, rubric.scale)
    score = None
    justification = ""
    if why is None:
        score = median_low(rating.score for rating in usable)
        justification = next(each.justification for each in usable if each.score == score)
    chances = _mean_by_key([rating.probabilities for rating in usable], missing=0.0)
    return Verdict(
        score=score,
        unscored=why,
        mean=mean_of(chances) if chances else _mean([rating.score for rating in usable]),
        spread=_spread(usable, chances),
        justification=justification,
        ratings=tuple(results),
        basis=f"{len(usable)} of {len(results)}",
        rubric=rubric.name,
        rubric_version=rubric.version,
        weighted_score=_mean([rating.weighted_score for rating in usable]),
        probabilities=chances,
        points=_mean_by_key([rating.points for rating in usable]),
        **of_judge,
        **add_up(results),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean; None if there is no value, or one is not known."""
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


def _spread(usable: Sequence[Rating], chances: Mapping[int, float] | None) -> int | None:
    if chances:
        return quantile(chances, 1 - _TAIL) - quantile(chances, _TAIL)
    scores = [rating.score for rating in usable]
    return max(scores) - min(scores) if scores else None


def mean_of(probabilities: Mapping[int, float]) -> float:
    """The mean of scores with these probabilities, whose sum is 1."""
    return math.fsum(score * chance for score, chance in probabilities.items())


def quantile(probabilities: Mapping[int, float], share: float) -> int:
    """The lowest score with at least this share of the probability at or below it."""
    scores = sorted(probabilities)
    below = accumulate(probabilities[score] for score in scores)
    return next(
        (score for score, sum_ in zip(scores, below, strict=True) if sum_ >= share - 1e-9),
        scores[-1],
    )


def _mean_by_key(
    maps: Sequence[Mapping[Any, Any] | None], missing: float | None = None
) -> dict[Any, Any] | None:
    """The mean of known values by key, `missing` if a map has no such key; None if there is no map,
    or one is None.
    """
    if not maps or None in maps:
        return None
    keys = dict.fromkeys(key for each in maps for key in each or ())
    known = {
        key: [value for each in maps if (value := (each or {}).get(key, missing)) is not None]
        for key in keys
    }
    return {key: fmean(values) if values else None for key, values in known.items()}


def has_majority(results: Sequence[Result]) -> bool:
    """Whether more than half of `results` have a usable score."""
    return 2 * sum(isinstance(result, Rating) for result in results) > len(results)


def point(scale: tuple[int, int]) -> float:
    """How far apart two ratings may be and still agree: 1 on a scale from 0 to 5, a fifth of a
    longer scale.
    """
    return max(1, (scale[1] - scale[0]) / 5)


def add_known(counts: Iterable[int | None]) -> int | None:
    """The sum of the known counts; None if none is known."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def add_up(results: Sequence[Spent]) -> dict[str, Any]:
    """The total tokens, time and cost, by field; the cost is None if one is unknown, because the
    sum would be wrong.
    """
    counts = ("input_tokens", "output_tokens", "reasoning_tokens", "latency_ms")
    known = [each.cost_usd for each in results if each.cost_usd is not None]
    cost_usd = sum(known, 0.0) if len(known) == len(results) else None
    return {name: add_known(getattr(each, name) for each in results) for name in counts} | {
        "cost_usd": cost_usd
    }


def _why_unscored(results: Sequence[Result], scale: tuple[int, int]) -> Unscored | None:
    """The reason that all results share, or that too few are usable or agree; None if most do."""
    scores = [result.score for result in results if isinstance(result, Rating)]
    if has_majority(results):
        near = [each for each in scores if abs(each - median(scores)) <= point(scale)]
        if 2 * len(near) > len(scores):
            return None
        listed = f"{', '.join(map(str, scores[:-1]))} and {scores[-1]}"
        detail = f"The ratings do not agree: {listed}."
        return Unscored(reason=UnscoredReason.SPLIT, detail=detail)
    unusable = [result for result in results if isinstance(result, Unscored)]
    reasons = sorted({result.reason for result in unusable})
    if not scores and len(reasons) == 1:
        return Unscored(reason=reasons[0], detail=unusable[0].detail, raw=unusable[0].raw)
    listed = ", ".join(reason.replace("_", " ") for reason in reasons)
    return Unscored(
        reason=UnscoredReason.NO_MAJORITY,
        detail=f"Only {len(scores)} of {len(results)} ratings have a usable score ({listed}).",
    )
