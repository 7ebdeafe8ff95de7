"""`judge estimate`, run as a command."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.judge_command import Done
from tests.judge_command import run as judge
from tests.tables import each

Run = Callable[..., Done]
Rows = list[dict[str, Any]]

# The mean score is 3.7, that of the labelled rows 3.5. People give one or two points less.
ROWS: Rows = [{"score": score, "human": max(score - 1 - i // 4 % 2, 0)} for i, score in enumerate([2, 3, 4, 5] * 6)]
ROWS += [{"score": score, "human": None} for score in [3, 4, 4, 3, 4, 4, 3, 5] * 10]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run_here(rows: Rows | str, *options: str) -> Done:
        path = tmp_path / "scored.jsonl"
        path.write_text(rows if isinstance(rows, str) else "\n".join(map(json.dumps, rows)))
        return judge("estimate", path, "--label", "human", *options)

    return run_here


@pytest.fixture
def figures(run: Run) -> Callable[..., dict[str, Any]]:
    def figures_of(rows: Rows, *options: str) -> dict[str, Any]:
        done = run(rows, "--json", *options)
        assert done.stderr == ""
        return dict(json.loads(done.stdout))

    return figures_of


Figures = Callable[..., dict[str, Any]]


def test_mean_is_shown_with_its_range_and_the_number_of_labels(run: Run) -> None:
    done = run(ROWS)
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert (
        done.stdout.replace("\n", " ")
        .split(". ")[0]
        .startswith("Mean 2.19, between 1.92 and 2.54 (104 scores, corrected by 24 labels; the judge alone says 3.69)")
    )
    assert "Good, at least 4: " in done.stdout
    assert "within 2 points of the judge's score (24 labels)" in done.stdout.replace("\n", " ")


def test_json_has_the_figures_by_name(figures: Figures) -> None:
    found = figures(ROWS)
    assert (found["n"], found["labelled"], found["scale"]) == (104, 24, [0, 5])
    assert found["low"] < found["mean"] < found["high"]
    assert found["judge_mean"] == pytest.approx((84 + 300) / 104)
    assert found["labels_only"]["mean"] == pytest.approx(sum(row["human"] for row in ROWS[:24]) / 24)
    assert found["good"]["from"] == 4
    assert 0 <= found["good"]["low"] < found["good"]["mean"] < found["good"]["high"] <= 1
    assert found["plus_minus"] == 2


def test_few_labels_say_how_many_are_missing(run: Run) -> None:
    done = run(ROWS[10:])
    said = done.stdout.replace("\n", " ")
    assert "With fewer than 20 labels the range is rough: if most labels are the same" in said
    assert said.strip().endswith("it may hold 80% instead of 95%; 6 more are needed.")
    assert "fewer than" not in run(ROWS).stdout


def test_labels_of_unequal_weight_count_as_fewer_labels(run: Run, figures: Figures) -> None:
    # Kish: weights 10 (4 labels) and 1 (20): (40 + 20)^2 / (400 + 20) = 8.57.
    drawn = [row | {"probability": 0.1 if i < 4 else 1.0} for i, row in enumerate(ROWS)]
    said = run(drawn).stdout.replace("\n", " ")
    assert "The 24 labels weigh unequally or share clusters, so they tell as much as 8.6." in said
    assert "at least 12 more are needed." in said
    assert figures(drawn)["effective"] == pytest.approx(3600 / 420)
    assert figures(ROWS)["effective"] == 24


def test_label_given_after_the_score_was_seen_is_left_out(run: Run, figures: Figures) -> None:
    seen = {"score": 1, "human": 5, "blind": False}
    found = figures([*ROWS, seen])
    assert (found["n"], found["labelled"], found["not_blind"]) == (105, 24, 1)
    assert "Left out: 1 label given after the score was seen." in run([*ROWS, seen]).stdout


def test_labels_of_one_case_are_one_case(figures: Figures) -> None:
    cases = [row | {"case": number} for number, row in enumerate(ROWS)]
    of_another_person = [row | {"human": row["human"] + 0.5} for row in cases[:24]]
    found = figures([*cases, *of_another_person])
    assert (found["n"], found["labelled"]) == (104, 24)
    assert found["mean"] == pytest.approx(figures(cases)["mean"] + 0.25)


def test_two_different_scores_of_one_case_are_reported(run: Run) -> None:
    done = run([{"case": 7, "score": 3, "human": 3}, {"case": 7, "score": 5, "human": 4}, *ROWS])
    assert (done.returncode, done.stderr) == (1, "line 2: score 5 is not the 3 above of its case\n")


def test_case_with_a_label_that_was_not_blind_counts_once(figures: Figures) -> None:
    cases = [row | {"case": number, "blind": True} for number, row in enumerate(ROWS)]
    found = figures([cases[0] | {"human": 5, "blind": False}, *cases])
    assert {**found, "not_blind": 0} == figures(cases)


def test_rows_of_one_thread_count_as_a_cluster(figures: Figures) -> None:
    alone, together = figures(ROWS), figures([row | {"thread": number // 4} for number, row in enumerate(ROWS)])
    assert together["mean"] == pytest.approx(alone["mean"])
    assert together["judge_high"] != alone["judge_high"]
    assert figures([row | {"topic": number // 4} for number, row in enumerate(ROWS)], "--cluster", "topic") == together


def test_label_is_weighted_by_the_probability_of_its_draw(figures: Figures) -> None:
    weighed = [row | {"p": 0.1 if row["score"] < 4 else 1} for row in ROWS]
    assert figures(weighed, "--probability", "p")["labels_only"]["mean"] < figures(ROWS)["labels_only"]["mean"]
    by_its_name = [row | {"probability": 0.1 if row["score"] < 4 else 1} for row in ROWS]
    assert figures(by_its_name) == figures(weighed, "--probability", "p")


@each("probability", [0, 1e-17, 1.2, None, float("nan")])
def test_invalid_probability_is_refused_with_its_line(run: Run, probability: object) -> None:
    rows = [row | {"p": 0.5} for row in ROWS]
    rows[2]["p"] = probability
    done = run(rows, "--probability", "p")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"line 3: p is {json.dumps(probability)}; give the probability")
    rows = [row | {"probability": row.pop("p")} for row in rows]
    assert run(rows).returncode == 2


def test_probability_on_only_some_labels_is_refused(run: Run) -> None:
    rows = [ROWS[0], ROWS[1] | {"probability": 0.5}, *ROWS[2:]]
    assert run(rows).stderr.startswith("line 2: probability is 0.5")


def test_scores_of_several_judges_are_not_mixed(run: Run, figures: Figures) -> None:
    rows = [row | {"model": "a"} for row in ROWS] + [row | {"model": "b", "score": 0} for row in ROWS]
    done = run(rows)
    assert done.returncode == 2
    assert "scores of several judges (a, b)" in done.stderr
    assert figures(rows, "--judge", "a") == figures(ROWS)
    assert run(rows, "--judge", "c").stderr == "--judge c: no row has this model.\n"


def test_labels_on_another_scale_are_mapped(figures: Figures) -> None:
    halves = [row | {"human": None if row["human"] is None else row["human"] / 5} for row in ROWS]
    assert figures(halves, "--scale", "0-1")["mean"] == pytest.approx(figures(ROWS)["mean"])


@each(
    ("rows", "sentence"),
    [
        ([{"score": 3, "human": None}], "No row has a label that can be used."),
        ([{"score": None, "human": 3}], "No row has a score that can be used."),
        ([{"score": 3, "human": 3, "blind": False}], "No row has a blind label that can be used."),
        ([{"score": 3}], "--label human: no line has this field; the fields are score."),
        ("\nscore,human\n3,4\n", "No line of the file is a JSON object (line 2: not JSON"),
    ],
)
def test_file_without_usable_rows_gives_one_sentence(run: Run, rows: Rows | str, sentence: str) -> None:
    done = run(rows)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(sentence)


def test_rows_without_a_score_are_counted(run: Run) -> None:
    assert "Left out: 1 row without a score." in run([*ROWS, {"score": None}]).stdout


def test_labelled_rows_without_a_score_are_counted_apart(run: Run) -> None:
    done = run([*ROWS, {"score": None, "human": 0}, {"score": None}])
    assert "Left out: 2 rows without a score (1 with a label)." in done.stdout


def test_one_label_has_no_range(run: Run) -> None:
    done = run([{"score": 3, "human": 4}, {"score": 5, "human": None}, {"score": 2, "human": None}])
    assert "Mean 4.00, of unknown precision (3 scores, corrected by 1 label;" in done.stdout
    assert "9 of 10 cases" not in done.stdout


def test_rubric_gives_the_scale(run: Run, tmp_path: Path) -> None:
    rubric = tmp_path / "ten.txt"
    rubric.write_text(
        "The score is between 1 and 10.\n<question>{prompt}</question>\n<response>{response}</response>\n"
    )
    rows = [{"score": score, "human": score, "rubric": "ten"} for score in (7, 8, 10) * 10]
    assert "give its file" in run(rows).stderr or "name its file with --rubric" in run(rows).stderr
    assert "Good, at least 8: 67%" in run(rows, "--rubric", str(rubric)).stdout


def test_labelled_rows_that_differ_from_the_others_give_a_warning(run: Run, figures: Figures) -> None:
    picked = [{"score": 1, "human": 1} for _ in range(24)] + ROWS[24:]
    assert list(figures(picked)["unlike"]) == ["score"]
    said = run(picked).stdout.replace("\n", " ")
    assert "Careful: the labelled rows are not like the others, by the scores (Kolmogorov-Smirnov test, p = " in said
    assert figures(ROWS)["unlike"] == {}


def test_labelled_responses_of_another_length_give_a_warning(figures: Figures) -> None:
    rows = [row | {"response": "x" * (40 if number < 24 else 400)} for number, row in enumerate(ROWS)]
    assert list(figures(rows)["unlike"]) == ["length"]


def test_rows_drawn_with_unequal_probabilities_may_differ_without_a_warning(figures: Figures) -> None:
    picked = [{"score": 1, "human": 1, "p": 0.5 if number else 0.4} for number in range(24)] + ROWS[24:]
    assert figures(picked, "--probability", "p")["unlike"] == {}


def test_rows_that_share_a_prompt_give_a_note_that_they_are_taken_as_independent(run: Run) -> None:
    rows = [row | {"prompt_id": number // 4} for number, row in enumerate(ROWS)]
    note = "Rows with the same prompt_id are taken as independent; --cluster prompt_id takes them as one."
    assert note in run(rows).stdout.replace("\n", " ")
    assert "taken as independent" not in run(rows, "--cluster", "prompt_id").stdout
    assert "taken as independent" not in run([row | {"prompt_id": n} for n, row in enumerate(ROWS)]).stdout


def test_label_stands_for_the_stratum_that_it_was_drawn_in(figures: Figures) -> None:
    # Two weeks of ten responses, all scored 3. The first has five labels of 4, the second one label of 1, all drawn
    # with the same probability. Each week counts by its ten responses, not by its labels: (4 + 1) / 2, not 21 / 6.
    rows = [{"score": 3, "human": 4, "probability": 0.5, "stratum": "a"}] * 5 + [{"score": 3, "stratum": "a"}] * 5
    rows += [{"score": 3, "human": 1, "probability": 0.5, "stratum": "b"}] + [{"score": 3, "stratum": "b"}] * 9
    assert figures(rows)["mean"] == pytest.approx(2.5)
    assert figures(rows, "--probability", "probability")["mean"] == pytest.approx(3.5)
