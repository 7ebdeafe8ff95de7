import json
from pathlib import Path
from typing import Any

import pytest

from judge.errors import SetupError
from judge.evaluation.agreement.scores import Columns, Scores, read_scores
from judge.evaluation.labelled import to_range
from judge.scoring.rubric import load_rubric
from tests.tables import each

ROW: dict[str, Any] = {"prompt": "Why?", "completion": "Because.", "score": 3, "human": 4}
NEXT = ROW | {"completion": "So."}


class Reading:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, *rows: dict[str, Any] | str, columns: Columns | None = None, **options: Any) -> Scores:
        lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        self.path.write_text("\n".join(lines), encoding="utf-8")
        return read_scores(self.path, columns or Columns("human"), **options)


@pytest.fixture
def read(tmp_path: Path) -> Reading:
    return Reading(tmp_path / "scored.jsonl")


@each("label", ["4", " 4 ", "4.0"])
def test_a_string_that_holds_a_number_is_read_as_a_number(read: Reading, label: str) -> None:
    (response,) = read(ROW | {"human": label}).responses
    assert response.labels == (4.0,)


def test_a_row_gives_score_and_label(read: Reading) -> None:
    scores = read(ROW)
    assert scores.judges == ("score",)
    assert scores.scale == (0, 5)
    assert (scores.responses[0].scores, scores.responses[0].labels) == ({"score": 3}, (4,))


def test_labels_of_another_range_are_mapped_to_the_scale(read: Reading) -> None:
    scores = read(ROW | {"human": 0.7}, columns=Columns("human", label_range=(0, 1)))
    assert scores.responses[0].labels == (3.5,)


def test_labels_that_differ_by_a_floating_point_error_are_equal(read: Reading) -> None:
    scores = read(ROW | {"human": 0.3}, NEXT | {"human": 0.1 + 0.2}, columns=Columns("human", label_range=(0, 1)))
    assert scores.responses[0].labels == scores.responses[1].labels


def test_a_null_score_is_unscored_and_a_null_label_is_ignored(read: Reading) -> None:
    scores = read(ROW | {"score": None, "human": None}, NEXT)
    assert scores.responses[0].scores == {"score": None}
    assert scores.responses[0].labels == ()
    assert scores.problems == ()


@each(
    ("row", "problem"),
    [
        (NEXT | {"human": 6}, "line 2: label 6 is off the scale 0 to 5"),
        (NEXT | {"human": "good"}, 'line 2: label "good" is not a number'),
        (NEXT | {"human": "9" * 400}, "is off the scale 0 to 5"),
        (NEXT | {"human": True}, "line 2: label true is not a number"),
        (NEXT | {"score": -1}, "line 2: score -1 is off the scale 0 to 5"),
        (NEXT | {"score": 10**400}, "is off the scale 0 to 5"),
        ('{"score": NaN, "human": 1}', "line 2: score NaN is not a number"),
        ("{", "line 2: not JSON"),
    ],
)
def test_an_unusable_value_is_reported_with_its_line(read: Reading, row: dict[str, Any] | str, problem: str) -> None:
    scores = read(ROW, row)
    assert len(scores.problems) == 1
    assert problem in scores.problems[0]
    assert scores.responses[0].labels == (4,)


def test_judges_are_told_apart_by_their_model(read: Reading) -> None:
    scores = read(ROW | {"model": "a"}, ROW | {"model": "b", "score": 5})
    assert scores.judges == ("a", "b")
    assert [response.scores for response in scores.responses] == [{"a": 3, "b": 5}]
    assert scores.responses[0].labels == (4,)


def test_judges_are_told_apart_by_their_field(read: Reading) -> None:
    scores = read(ROW | {"other": 1, "model": "a"}, columns=Columns("human", ("score", "other")))
    assert scores.responses[0].scores == {"score": 3, "other": 1}
    assert scores.responses[0].labels == (4,)


def test_one_model_with_two_rubric_versions_counts_as_two_judges(read: Reading, tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text(load_rubric("additive-5").prompt + "Be strict.", encoding="utf-8")
    old, new = (ROW | {"model": "a", "rubric": "r", "rubric_version": version} for version in ("1", "2"))
    assert read(old, new, rubric=mine).judges == ("1", "2")


def test_a_single_judge_is_named_after_its_model(read: Reading) -> None:
    assert read(ROW | {"model": "a", "rubric": "additive-5"}).judges == ("a",)


def test_labels_of_several_people_can_be_a_list(read: Reading) -> None:
    assert read(ROW | {"human": [3, None, 5]}).responses[0].labels == (3, 5)


def test_labels_of_several_people_can_be_on_separate_lines(read: Reading) -> None:
    rows = [{"case": 7, "score": 3, "human": label} for label in (2, 4)]
    scores = read(*rows)
    assert [response.labels for response in scores.responses] == [(2, 4)]
    assert scores.repeats == 0


def test_a_second_score_by_the_same_judge_is_left_out_and_counted(read: Reading) -> None:
    scores = read(ROW, ROW | {"score": 5})
    assert scores.responses[0].scores == {"score": 3}
    assert scores.repeats == 1


def test_a_later_score_replaces_an_unscored_row(read: Reading) -> None:
    scores = read(ROW | {"score": None}, ROW)
    assert scores.responses[0].scores == {"score": 3}
    assert scores.repeats == 0


def test_lines_without_texts_are_separate_responses(read: Reading) -> None:
    rows = [{"score": 3, "human": 3}] * 2
    assert [response.prompt for response in read(*rows).responses] == ["line 1", "line 2"]


def test_responses_to_one_prompt_share_it(read: Reading) -> None:
    rows = [{"prompt_id": 9, "prompt": f"Why {text}?", "response": text, "score": 1, "human": 1} for text in "ab"]
    assert [response.prompt for response in read(*rows).responses] == ["9", "9"]


@each("named", [{"rubric": ["tone"]}, {"rubric": "tone", "rubric_version": {"hash": "1234abcd"}}])
def test_a_rubric_field_that_is_not_text_is_refused(read: Reading, named: dict[str, Any]) -> None:
    with pytest.raises(SetupError, match=r"tone.* does not come with this package"):
        read(ROW | named)


def test_an_unknown_rubric_is_refused(read: Reading) -> None:
    with pytest.raises(SetupError, match=r"rubric 'tone' \(1234abcd\).* name its file with --rubric"):
        read(ROW | {"rubric": "tone", "rubric_version": "1234abcd"})


def test_a_built_in_rubric_with_another_version_is_refused(read: Reading) -> None:
    with pytest.raises(SetupError, match="which does not come with this package"):
        read(ROW | {"rubric": "additive-5", "rubric_version": "00000000"})


def test_the_rubrics_file_gives_the_scale(read: Reading, tmp_path: Path) -> None:
    mine = tmp_path / "tone.txt"
    prompt = load_rubric("additive-5").prompt.replace("is between 0 and 5", "is between 1 and 10")
    mine.write_text(prompt, encoding="utf-8")
    assert read(ROW | {"rubric": "tone", "rubric_version": "1"}, rubric=mine).scale == (1, 10)


@each(("text", "bounds"), [("0-1", (0, 1)), ("1-10", (1, 10)), ("-1-1", (-1, 1)), ("0.5-2.5", (0.5, 2.5))])
def test_a_range_is_two_numbers(text: str, bounds: tuple[float, float]) -> None:
    assert to_range(text) == bounds


@each("text", ["", "5", "5-1", "1-1", "a-b", "0 to 1"])
def test_anything_else_is_not_a_range(text: str) -> None:
    with pytest.raises(SetupError, match=r"such as 0-1 or 1-10\.$"):
        to_range(text)


def test_a_repeated_line_does_not_count_as_a_second_person(read: Reading) -> None:
    scores = read(ROW, ROW)
    assert [response.labels for response in scores.responses] == [(4,)]
    assert (scores.duplicates, scores.repeats) == (1, 0)


def test_another_run_of_the_same_judge_does_not_count_as_a_second_person(read: Reading) -> None:
    scores = read(ROW | {"line": 1}, ROW | {"line": 1, "score": 5})
    assert [response.labels for response in scores.responses] == [(4,)]
    assert (scores.duplicates, scores.repeats) == (0, 1)


def test_people_who_agree_are_told_apart_by_the_field_label_by(read: Reading) -> None:
    scores = read(ROW | {"label_by": "a", "line": 1}, ROW | {"label_by": "b", "line": 2})
    assert [response.labels for response in scores.responses] == [(4, 4)]
    assert scores.duplicates == 0


def test_a_second_label_of_a_person_is_left_out_and_counted(read: Reading) -> None:
    scores = read(ROW | {"label_by": "a"}, ROW | {"label_by": "a", "human": 2})
    assert [response.labels for response in scores.responses] == [(4,)]
    assert scores.repeats == 1


def test_equal_answers_on_different_lines_of_a_batch_are_different_responses(read: Reading) -> None:
    rows = [
        ROW | {"model": model, "line": line} for model, shift in (("a", 0), ("b", 7)) for line in (shift, shift + 1)
    ]
    scores = read(*rows)
    assert [response.scores for response in scores.responses] == [{"a": 3, "b": 3}] * 2
    assert scores.duplicates == 0


@each(
    ("change", "message"),
    [
        ("human", r"^8 of 10 labels are off the scale 0 to 5: they go from 4 to 13; say --scale 4-13, with"),
        ("score", r"^8 of 10 scores are off the scale 0 to 5: they go from 4 to 13; name the rubric .* --rubric"),
    ],
)
def test_values_on_another_scale_are_refused(read: Reading, change: str, message: str) -> None:
    with pytest.raises(SetupError, match=message):
        read(*(ROW | {"completion": str(n), change: n} for n in range(4, 14)))
