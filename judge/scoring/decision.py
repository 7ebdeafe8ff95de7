"""Asks a decision model: the probability of each score, and of each criterion beside it, in one
request without text.

Source: `client.decisions` of the package `openai`, POST /v1/decisions.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from judge.errors import SetupError
from judge.scoring.panel import Member, Outcome
from judge.scoring.prompt import Texts, render_messages
from judge.scoring.ratings import (
    Rating,
    Result,
    Unscored,
    UnscoredReason,
    mean_of,
    quantile,
    unscored,
)
from judge.scoring.rubric import Rubric

_MOST_LEVELS = 10
_MOST_OFF = 0.02  # how far the sum of the probabilities may be from 1


class DecisionMember(Member):
    async def rate(
        self, texts: Texts, earlier: Sequence[Result], give_up_at: float
    ) -> list[Outcome]:
        rubric = texts.rubric
        decide = self.model.decide
        return await self._results(
            lambda: decide(render_messages(texts), to_questions(rubric), give_up_at=give_up_at),
            lambda choice: self._withheld(choice) or _read(choice.text, rubric),
        )


def to_questions(rubric: Rubric) -> list[dict[str, Any]]:
    """A question for the score, then one for each criterion.

    Raises SetupError if the scale is too long for them.
    """
    labels = [str(score) for score in range(rubric.scale.low, rubric.scale.high + 1)]
    if len(labels) > _MOST_LEVELS:
        raise SetupError(
            f"Rubric {rubric.name!r} has {len(labels)} scores, and a decision takes "
            f"{_MOST_LEVELS} at most; use JUDGE_ASK=distribution, or a rubric with a shorter scale."
        )
    levels = [
        {"label": each} | ({"description": rubric.levels[each]} if rubric.levels else {})
        for each in labels
    ]
    score = "The score of the response, as the instructions above define it."
    return [
        {"type": "score", "name": "score", "instructions": score, "levels": levels},
        *(
            {"type": "predicate", "name": name, "instructions": said}
            for name, said in rubric.criteria.items()
        ),
    ]


def read_choices(text: str, questions: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The choice for each question by its name, but where the model declines; ValueError if they
    are not valid.
    """
    chosen = {}
    with _explaining():
        for answer, question in zip(_answers(text, questions), questions, strict=True):
            if answer["type"] != "refusal":
                choice = answer["choice"]
                if {"value": choice} not in question["choices"]:
                    raise ValueError("what is chosen is not one of the choices")
                chosen[question["name"]] = choice
    return chosen


def _read(text: str, rubric: Rubric) -> Result:
    try:
        with _explaining():
            questions = to_questions(rubric)
            score, *others = _answers(text, questions)
            if score["type"] == "refusal":
                return unscored(UnscoredReason.REFUSED, rubric.scale, text)
            labels = [each["label"] for each in questions[0]["levels"]]
            levels = _distribution(score, labels)
            points = {
                each["name"]: None
                if each["type"] == "refusal"
                else _probability(each["probability"])
                for each in others
            }
    except ValueError as exc:
        return Unscored(
            reason=UnscoredReason.INVALID, detail=f"The decision is not valid: {exc}.", raw=text
        )
    probabilities = {int(label): chance for label, chance in levels.items()}
    return Rating(
        score=quantile(probabilities, 0.5),
        justification="",
        raw=text,
        weighted_score=mean_of(probabilities),
        probabilities=probabilities,
        points=points or None,
    )


@contextmanager
def _explaining() -> Iterator[None]:
    try:
        yield
    except (LookupError, TypeError) as exc:
        raise ValueError("it does not have the form that was asked for") from exc


def _answers(text: str, questions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The answers to the questions, each of its type or a refusal."""
    answers: list[dict[str, Any]] = json.loads(text)
    for answer, question in zip(answers, questions, strict=True):
        if answer["name"] != question["name"] or answer["type"] not in (
            question["type"],
            "refusal",
        ):
            raise ValueError("the answers are not those to the questions")
    return answers


def _distribution(answer: Mapping[str, Any], labels: Sequence[str]) -> dict[str, float]:
    """The probability of each label that was asked for, in that order, scaled to 1."""
    chances = {each["label"]: _probability(each["probability"]) for each in answer["probabilities"]}
    total = math.fsum(chances.values())
    if set(chances) != set(labels) or abs(total - 1) > _MOST_OFF:
        raise ValueError("its probabilities are not those of each label, together 1")
    return {label: chances[label] / total for label in labels}


def _probability(given: Any) -> float:
    # Comparing also refuses NaN.
    if not 0 <= given <= 1:
        raise ValueError("a probability is no number from 0 to 1")
    return float(given)
