"""A decision model that chooses among names."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from judge.scoring.judging import Written


class Decider:
    """Chooses so for each question, by its number; it declines the others, or says nothing of those
    after so many.
    """

    def __init__(self, chosen: Mapping[int, str], questions: int | None = None) -> None:
        self._chosen = chosen
        self._most = questions
        self.messages: Sequence[Mapping[str, str]] = ()

    async def decide(
        self, messages: Sequence[Mapping[str, str]], questions: Sequence[Mapping[str, Any]]
    ) -> Written:
        self.messages = messages
        answers = [self._answer(number, each) for number, each in enumerate(questions, 1)]
        return Written(json.dumps(answers[: self._most]), 90)

    def _answer(self, number: int, question: Mapping[str, Any]) -> Mapping[str, Any]:
        value = self._chosen.get(number)
        if value is None:
            return {"type": "refusal", "name": question["name"]}
        chances = [
            {"value": each["value"], "probability": float(each["value"] == value)}
            for each in question["choices"]
        ]
        said = {"type": "choice", "name": question["name"], "choice": value}
        return said | {"confidence": 1.0, "probabilities": chances}
