"""Asks a decision model: the probability of each score, and of each criterion beside it, in one request without text.

Source: `client.decisions` of the package `openai`, POST /v1/decisions.
"""

import json
import math
from collections.abc import Sequence
from typing import Any

from judge.errors import SetupError
from judge.scoring.panel import Member, Outcome
from judge.scoring.prompt import Texts, render_messages
from judge.scoring.ratings import Rating, Result, Unscored, UnscoredReason, mean_of, quantile, unscored
from judge.scoring.rubric import Rubric

_SCORE = "score"
_MOST_LEVELS = 10
_MOST_OFF = 0.02  # how far the sum of the probabilities may be from 1


class DecisionMember(Member):
    """Asks one decision model for its one rating."""

    async def rate(self, texts: Texts, outcomes: list[Outcome], give_up_at: float) -> None:
        rubric, decide = texts.rubric, self.model.decide
        outcomes[:] = await self._results(
            lambda: decide(render_messages(texts), to_questions(rubric), give_up_at=give_up_at),
            lambda choice: self._withheld(choice) or _read(choice.text, rubric),
        )


def to_questions(rubric: Rubric) -> list[dict[str, Any]]:
    """A question for the score, then one for each criterion. Raises SetupError if the scale is too long for them."""
    labels = [str(score) for score in range(rubric.scale.low, rubric.scale.high + 1)]
    if len(labels) > _MOST_LEVELS:
        raise SetupError(
            f"Rubric {rubric.name!r} has {len(labels)} scores, and a decision takes {_MOST_LEVELS} at most; use --ask "
            "distribution, or a rubric with a shorter scale."
        )
    levels = [{"label": each} | ({"description": rubric.levels[each]} if rubric.levels else {}) for each in labels]
    score = "The score of the response, as the instructions above define it."
    return [
        {"type": "score", "name": _SCORE, "instructions": score, "levels": levels},
        *({"type": "predicate", "name": name, "instructions": said} for name, said in rubric.criteria.items()),
    ]


def _read(text: str, rubric: Rubric) -> Result:
    try:
        answers, questions = json.loads(text), to_questions(rubric)
        names = [each.get("name") if isinstance(each, dict) else None for each in answers]
        if names != [each["name"] for each in questions]:
            raise ValueError("the answers are not those to the questions")
        for answer, question in zip(answers, questions, strict=True):
            if answer.get("type") not in (question["type"], "refusal"):
                raise ValueError(f"the answer to {question['name']!r} is of another type")
        score, *others = answers
        if score["type"] == "refusal":
            return unscored(UnscoredReason.REFUSED, rubric.scale, text)
        probabilities = _distribution(score.get("probabilities"), [each["label"] for each in questions[0]["levels"]])
        points = {
            each["name"]: None if each["type"] == "refusal" else _probability(each.get("probability"))
            for each in others
        }
    except ValueError as exc:
        return Unscored(reason=UnscoredReason.INVALID, detail=f"The decision is not valid: {exc}.", raw=text)
    return Rating(
        score=quantile(probabilities, 0.5),
        justification="",
        raw=text,
        weighted_score=mean_of(probabilities),
        probabilities=probabilities,
        points=points or None,
    )


def _distribution(given: object, labels: Sequence[str]) -> dict[int, float]:
    """The probability of each score, scaled to 1."""
    found = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    if sorted((each.get("label") for each in found), key=str) != sorted(labels):
        raise ValueError("the levels are not those of the scale, each once")
    chances = {int(each["label"]): _probability(each.get("probability")) for each in found}
    total = math.fsum(chances.values())
    if abs(total - 1) > _MOST_OFF:
        raise ValueError(f"the probabilities of the levels add up to {total:.3g}")
    return {score: chances[score] / total for score in sorted(chances)}


def _probability(given: object) -> float:
    # Comparing also refuses NaN.
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        raise ValueError("a probability is no number from 0 to 1")
    return float(given)
