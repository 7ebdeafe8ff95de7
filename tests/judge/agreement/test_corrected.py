"""The mean as people would score, from a file with labels on some of its rows."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.errors import SetupError
from judge.evaluation.agreement.scores import Columns, read_scores
from judge.evaluation.estimate import Corrected
from tests.judge.cli.test_agreement_command import FEW_LABELLED as ROWS
from tests.tables import each

Rows = list[dict[str, Any]]
Figures = Callable[[Rows], Corrected]


@pytest.fixture
def figures(tmp_path: Path) -> Figures:
    def figures_of(rows: Rows) -> Corrected:
        path = tmp_path / "scored.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)))
        scores = read_scores(path, Columns("human"))
        return scores.corrected(scores.judges[0])

    return figures_of


def numbered(rows: Rows, **fields: Callable[[int], Any]) -> Rows:
    return [
        row | {name: of(number) for name, of in fields.items()} for number, row in enumerate(rows)
    ]


def test_labels_of_one_case_are_one_case(figures: Figures) -> None:
    cases = numbered(ROWS, case=lambda number: number)
    of_another_person = [row | {"human": row["human"] + 0.5} for row in cases[:24]]
    found = figures([*cases, *of_another_person])
    assert (found.mean.n, found.mean.labelled) == (104, 24)
    assert found.mean.corrected.mean == pytest.approx(figures(cases).mean.corrected.mean + 0.25)


def test_a_label_that_was_not_blind_corrects_nothing(figures: Figures) -> None:
    cases = numbered(ROWS, case=lambda number: number, label_by=lambda _: "ann")
    seen = cases[0] | {"human": 5, "blind": False, "label_by": "ben"}
    assert figures([seen, *cases]) == figures(cases)


@each("field", ["thread", "prompt_id"])
def test_rows_of_one_thread_or_prompt_count_as_a_cluster(figures: Figures, field: str) -> None:
    alone = figures(ROWS).mean.judge
    together = figures(numbered(ROWS, **{field: lambda number: number // 4})).mean.judge
    assert together.mean == pytest.approx(alone.mean)
    assert together.high != alone.high


@each("probability", [1e-17, 1.2, None])
def test_an_invalid_probability_is_refused_with_its_line(
    figures: Figures, probability: object
) -> None:
    rows = [row | {"probability": 0.5} for row in ROWS]
    rows[2]["probability"] = probability
    said = f"^line 3: probability is {json.dumps(probability)}; give the probability"
    with pytest.raises(SetupError, match=said):
        figures(rows)


def test_labelled_rows_that_differ_from_the_others_are_noticed(figures: Figures) -> None:
    lower = [{"score": 1, "human": 1}] * 24 + ROWS[24:]
    # Rows that were drawn with unequal probabilities should differ.
    drawn = [row | {"probability": 0.5 if n else 0.4} for n, row in enumerate(lower[:24])]
    found = [figures(rows).unlike for rows in (lower, drawn + ROWS[24:])]
    assert found == [(1, 3.75), None]


def test_a_label_stands_for_the_stratum_that_it_was_drawn_in(figures: Figures) -> None:
    # Two weeks of ten responses, all scored 3. The first has five labels of 4, the second one label
    # of 1, all drawn with the same probability. Each week counts by its ten responses, not by its
    # labels: (4 + 1) / 2, not 21 / 6.
    first = [{"score": 3, "human": 4, "probability": 0.5, "stratum": "a"}] * 5
    second = [{"score": 3, "human": 1, "probability": 0.5, "stratum": "b"}]
    rows = [*first, *[{"score": 3, "stratum": "a"}] * 5]
    rows += [*second, *[{"score": 3, "stratum": "b"}] * 9]
    assert figures(rows).mean.corrected.mean == pytest.approx(2.5)
