import json
from pathlib import Path
from typing import Any

import pytest

from judge.errors import SetupError
from judge.evaluation.agreement.scores import Columns, Scores, read_scores
from judge.scoring.rubric import load_rubric
from tests import row_files
from tests.tables import each

ROW: dict[str, Any] = {"prompt": "Why?", "completion": "Because.", "score": 3, "human": 4}
NEXT = ROW | {"completion": "So."}


class Reading:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(
        self, *rows: dict[str, Any] | str, columns: Columns | None = None, **options: Any
    ) -> Scores:
        lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        self.path.write_text("\n".join(lines), encoding="utf-8")
        return read_scores(self.path, columns or Columns("human"), **options)


@pytest.fixture
def read(tmp_path: Path) -> Reading:
    return Reading(tmp_path / "scored.jsonl")


def test_a_row_gives_score_and_label(read: Reading) -> None:
    assert read(ROW | {"model": "a", "rubric": "additive-5"}).judges == ("a",)
    scores = read(ROW | {"other": 1}, columns=Columns("human", ("score", "other")))
    assert (scores.judges, scores.scale) == (("score", "other"), (0, 5))
    assert scores.responses[0].scores == {"score": 3, "other": 1}


def test_labels_of_another_range_are_mapped_to_the_scale_without_rounding_errors(
    read: Reading,
) -> None:
    rows = [ROW | {"human": 0.3}, NEXT | {"human": 0.1 + 0.2}]
    scores = read(*rows, columns=Columns("human", label_range=(0, 1)))
    assert [each.labels for each in scores.responses] == [(1.5,), (1.5,)]


OF_A = ROW | {"label_by": "a"}
ONE_RESPONSE: dict[
    str, tuple[list[dict[str, Any]], tuple[float, ...], dict[str, int | None], int]
] = {
    # the rows, its labels and scores, and the values in conflict with an earlier line
    "a label as a string": ([ROW | {"human": " 3.5 "}], (3.5,), {"score": 3}, 0),
    "no score and no label": ([ROW | {"score": None, "human": None}], (), {"score": None}, 0),
    "several labels in a list": ([ROW | {"human": [3, None, 5]}], (3, 5), {"score": 3}, 0),
    "several labels on lines of a case": (
        [ROW | {"case": 7, "human": n} for n in (4, 2)],
        (4, 2),
        {"score": 3},
        0,
    ),
    "a second score by the judge": ([ROW, ROW | {"score": 5}], (4,), {"score": 3}, 1),
    "a score after none": ([ROW | {"score": None}, ROW], (4,), {"score": 3}, 0),
    "people who agree": (
        [OF_A | {"line": 1}, ROW | {"label_by": "b", "line": 2}],
        (4, 4),
        {"score": 3},
        0,
    ),
    "a second label by a person": ([OF_A, OF_A | {"human": 2}], (4,), {"score": 3}, 1),
    "two models": (
        [ROW | {"model": "a"}, ROW | {"model": "b", "score": 5}],
        (4,),
        {"a": 3, "b": 5},
        0,
    ),
}


@each("which", ONE_RESPONSE)
def test_rows_of_one_response_are_merged(read: Reading, which: str) -> None:
    rows, labels, by_judge, repeats = ONE_RESPONSE[which]
    scores = read(*rows)
    assert [(each.labels, each.scores) for each in scores.responses] == [(labels, by_judge)]
    assert (scores.repeats, scores.problems) == (repeats, ())


def test_the_same_texts_are_a_response_in_each_group(read: Reading) -> None:
    rows = [ROW | {"version": "old"}, ROW | {"version": "new", "human": 3}]
    for group, labels, same in ((None, [(4, 3)], 1), ("version", [(4,), (3,)], 0)):
        scores = read(*rows, columns=Columns("human", group=group))
        assert ([each.labels for each in scores.responses], scores.same) == (labels, same)


def beside(read: Reading, rows: list[dict[str, Any]], *labels: dict[str, Any]) -> Scores:
    file = row_files.write(read.path.with_name("labels.jsonl"), *labels)
    return read(*rows, columns=Columns("human", labels=file, group="version"))


def test_a_file_of_labels_gives_labels_alone(read: Reading) -> None:
    old = ROW | {"version": "old", "human": 1}
    rows = [old, old | {"version": "new", "score": 2}, NEXT | {"version": "new", "human": None}]
    scores = beside(read, rows, OF_A | {"score": 5, "model": "other"})
    assert sorted((each.labels, each.scores["score"]) for each in scores.responses) == [
        ((), 3),
        ((4,), 2),
        ((4,), 3),
    ]
    assert (scores.own_labels, scores.repeats, scores.problems) == (2, 0, ())


def test_a_label_of_no_response_is_a_problem(read: Reading) -> None:
    scores = beside(read, [ROW | {"version": "old"}], OF_A, OF_A | {"completion": "Else."})
    assert [each.labels for each in scores.responses] == [(4,)]
    (problem,) = scores.problems
    assert "labels.jsonl, line 2: the label is of no response in " in problem


def test_labels_beside_rows_without_scores_are_refused(read: Reading) -> None:
    with pytest.raises(SetupError, match="no line has a score; 'judge batch' adds them"):
        beside(read, [{"prompt": "Why?", "completion": "Because.", "version": "old"}], OF_A)


@each(
    ("row", "problem"),
    [
        (NEXT | {"human": 6}, "line 2: label 6 is off the scale 0 to 5"),
        (NEXT | {"human": "good"}, 'line 2: label "good" is not a number'),
        (NEXT | {"human": True}, "line 2: label true is not a number"),
        (NEXT | {"score": -1}, "line 2: score -1 is off the scale 0 to 5"),
        ('{"score": NaN, "human": 1}', "line 2: score NaN is not a number"),
        ("{", "line 2: not JSON"),
    ],
)
def test_an_unusable_value_is_reported_with_its_line(
    read: Reading, row: dict[str, Any] | str, problem: str
) -> None:
    scores = read(ROW, row)
    assert len(scores.problems) == 1
    assert problem in scores.problems[0]
    assert scores.responses[0].labels == (4,)


def test_one_model_with_two_rubric_versions_counts_as_two_judges(
    read: Reading, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text(load_rubric("additive-5").prompt + "Be strict.", encoding="utf-8")
    old, new = (
        ROW | {"model": "a", "rubric": "r", "rubric_version": version} for version in ("1", "2")
    )
    assert read(old, new, rubric=mine).judges == ("1", "2")


@each(
    ("rows", "prompts"),
    [
        ([{"score": 3, "human": 3}] * 2, ["line 1", "line 2"]),  # without texts
        (
            [
                {"prompt_id": 9, "prompt": f"{text}?", "response": text, "score": 1, "human": 1}
                for text in "ab"
            ],
            ["9", "9"],
        ),
    ],
)
def test_responses_share_the_prompt_that_their_rows_name(
    read: Reading, rows: list[dict[str, Any]], prompts: list[str]
) -> None:
    assert [response.prompt for response in read(*rows).responses] == prompts


@each(
    ("named", "message"),
    [
        (
            {"rubric": "tone", "rubric_version": "1234abcd"},
            r"rubric 'tone' \(1234abcd\).* its file with --rubric",
        ),
        (
            {"rubric": "additive-5", "rubric_version": "00000000"},
            "which does not come with this package",
        ),
    ],
)
def test_a_rubric_that_is_not_known_is_refused(
    read: Reading, named: dict[str, Any], message: str
) -> None:
    with pytest.raises(SetupError, match=message):
        read(ROW | named)


def test_the_rubrics_file_gives_the_scale(read: Reading, tmp_path: Path) -> None:
    mine = tmp_path / "tone.txt"
    prompt = load_rubric("additive-5").prompt.replace("is between 0 and 5", "is between 1 and 10")
    mine.write_text(prompt, encoding="utf-8")
    assert read(ROW | {"rubric": "tone", "rubric_version": "1"}, rubric=mine).scale == (1, 10)


@each(
    ("change", "message"),
    [
        ("human", r"^8 of 10 labels are off the scale 0 to 5: they go from 4 to 13; say --scale 4"),
        ("score", r"^8 of 10 scores are off the scale 0 to 5: they go from 4 to 13; name the rub"),
    ],
)
def test_values_on_another_scale_are_refused(read: Reading, change: str, message: str) -> None:
    with pytest.raises(SetupError, match=message):
        read(*(ROW | {"completion": str(n), change: n} for n in range(4, 14)))
