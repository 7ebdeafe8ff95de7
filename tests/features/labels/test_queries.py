"""What a person sees of their own blind labels, and what each score means."""

from datetime import UTC, datetime

import pytest

from bot.domain.label import Label
from bot.features.labels.queries import read_compared
from bot.features.labels.text import meanings
from bot.store import Store
from judge import load_rubric
from tests.cases import add
from tests.store.test_assignments import ANN, BEN, label
from tests.tables import each


@pytest.mark.on("sqlite")
async def test_only_blind_labels_are_compared(log: Store) -> None:
    await add(log, 2, datetime.now(UTC))
    number = await label(log, score=2)
    case = await log.cases.get(3 - number)
    await log.labels.put(case, ANN, Label(5, None))
    found = await read_compared(log.database, "T1", ANN, [1, 2], ["C1"])
    assert [(given, case.score) for case, given in found] == [(2, 4)]
    assert await read_compared(log.database, "T1", ANN, [1, 2], ["C2"]) == []
    assert await read_compared(log.database, "T1", BEN, [1, 2], ["C1"]) == []


@each("name", ["additive-5", "grounded", "refusal"])
def test_the_words_for_scores_are_about_the_rubric_as_it_is(name: str) -> None:
    rubric = load_rubric(name)
    assert sorted(meanings(rubric)) == list(range(rubric.scale.low, rubric.scale.high + 1))
    assert max(len(f"{score}: {words}") for score, words in meanings(rubric).items()) <= 75
