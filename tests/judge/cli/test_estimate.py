"""`judge estimate`, run as a command."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.judge_command import Done
from tests.judge_command import run as judge
from tests.tables import each
from tests.texts import unlike

Run = Callable[..., Done]
Rows = list[dict[str, Any]]

# The mean score is 3.7, that of the labelled rows 3.5. People give one or two points less.
ROWS: Rows = [
    {"score": score, "human": max(score - 1 - i // 4 % 2, 0)}
    for i, score in enumerate([2, 3, 4, 5] * 6)
]
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


UNUSED: Rows = [{"score": 5, "human": None}, {"score": 2, "human": None}]
TWO_JUDGES = [row | {"model": "a"} for row in ROWS] + [
    row | {"model": "b", "score": 0} for row in ROWS
]
SERVED = [row | {"ratings": [{"model": "m", "served": f"m-{n % 5}"}]} for n, row in enumerate(ROWS)]
SITUATIONS: dict[str, tuple[Rows | str, list[str]]] = {
    "few labels": (ROWS[10:], []),
    "one label": ([{"score": 3, "human": 4}, *UNUSED], []),
    "labels of unequal weight": (
        [row | {"probability": 0.1 if i < 4 else 1.0} for i, row in enumerate(ROWS)],
        [],
    ),
    "a label given after the score was seen": (
        [*ROWS, {"score": 1, "human": 5, "blind": False}],
        [],
    ),
    "rows without a score": ([*ROWS, {"score": None, "human": 0}, {"score": None}], []),
    "labelled rows unlike the others": ([{"score": 1, "human": 1}] * 24 + ROWS[24:], []),
    "rows that share a prompt": (
        [row | {"prompt_id": number // 4} for number, row in enumerate(ROWS)],
        [],
    ),
    "two scores of one case": (
        [{"case": 7, "score": 3, "human": 3}, {"case": 7, "score": 5, "human": 4}],
        [],
    ),
    "scores of several judges": (TWO_JUDGES, []),
    "a model that answered under several names": (SERVED, []),
    "the same, taken for one judge": (SERVED, ["--other-judge"]),
    "a judge that there is not": (TWO_JUDGES, ["--judge", "c"]),
    "a probability on some labels alone": (
        [ROWS[0], ROWS[1] | {"probability": 0.5}, *ROWS[2:]],
        [],
    ),
    "another rubric": ([row | {"rubric": "ten"} for row in ROWS], []),
    "no label": (UNUSED, []),
    "no score": ([{"score": None, "human": 3}], []),
    "no blind label": ([{"score": 3, "human": 3, "blind": False}], []),
    "no field with labels": ([{"score": 3}], []),
}


def test_each_situation_reads_as_in_the_snapshot(run: Run, snapshot: SnapshotAssertion) -> None:
    """Only what differs from the usual output is in the snapshot."""
    usual = run(ROWS)
    assert usual.stdout == snapshot(name="usual")
    for name, (rows, options) in SITUATIONS.items():
        done = run(rows, *options)
        said = f"{done.stdout}{done.stderr}exit code {done.returncode}"
        assert (unlike(usual.stdout, said) if done.stdout else said) == snapshot(name=name)
        assert max(map(len, done.stdout.splitlines()), default=0) <= 80
        assert bool(done.stdout) != (done.returncode == 2)


def test_json_has_the_figures_by_name(figures: Figures) -> None:
    found = figures(ROWS)
    assert (found["n"], found["labelled"], found["scale"]) == (104, 24, [0, 5])
    assert found["low"] < found["mean"] < found["high"]
    assert found["judge_mean"] == pytest.approx((84 + 300) / 104)
    assert found["labels_only"]["mean"] == pytest.approx(
        sum(row["human"] for row in ROWS[:24]) / 24
    )
    assert found["good"]["from"] == 4
    assert 0 <= found["good"]["low"] < found["good"]["mean"] < found["good"]["high"] <= 1
    assert found["plus_minus"] == 2


def test_labels_of_one_case_are_one_case(figures: Figures) -> None:
    cases = [row | {"case": number} for number, row in enumerate(ROWS)]
    of_another_person = [row | {"human": row["human"] + 0.5} for row in cases[:24]]
    found = figures([*cases, *of_another_person])
    assert (found["n"], found["labelled"]) == (104, 24)
    assert found["mean"] == pytest.approx(figures(cases)["mean"] + 0.25)


def test_case_with_a_label_that_was_not_blind_counts_once(figures: Figures) -> None:
    cases = [row | {"case": number, "blind": True} for number, row in enumerate(ROWS)]
    found = figures([cases[0] | {"human": 5, "blind": False}, *cases])
    assert {**found, "not_blind": 0} == figures(cases)


def test_rows_of_one_thread_count_as_a_cluster(figures: Figures) -> None:
    alone = figures(ROWS)
    together = figures([row | {"thread": number // 4} for number, row in enumerate(ROWS)])
    assert together["mean"] == pytest.approx(alone["mean"])
    assert together["judge_high"] != alone["judge_high"]
    assert (
        figures(
            [row | {"topic": number // 4} for number, row in enumerate(ROWS)], "--cluster", "topic"
        )
        == together
    )


def test_label_is_weighted_by_the_probability_of_its_draw(figures: Figures) -> None:
    weighed = [row | {"p": 0.1 if row["score"] < 4 else 1} for row in ROWS]
    assert (
        figures(weighed, "--probability", "p")["labels_only"]["mean"]
        < figures(ROWS)["labels_only"]["mean"]
    )
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


def test_scores_of_several_judges_are_not_mixed(figures: Figures) -> None:
    assert figures(TWO_JUDGES, "--judge", "a") == figures(ROWS)


def test_labels_on_another_scale_are_mapped(figures: Figures) -> None:
    halves = [row | {"human": None if row["human"] is None else row["human"] / 5} for row in ROWS]
    assert figures(halves, "--scale", "0-1")["mean"] == pytest.approx(figures(ROWS)["mean"])


def test_rubric_gives_the_scale(run: Run, tmp_path: Path) -> None:
    rubric = tmp_path / "ten.txt"
    rubric.write_text(
        "The score is between 1 and "
        "10.\n<question>{prompt}</question>\n<response>{response}</response>\n"
    )
    rows = [{"score": score, "human": score, "rubric": "ten"} for score in (7, 8, 10) * 10]
    assert "Good responses, at least 8: 67%" in run(rows, "--rubric", str(rubric)).stdout


def test_labelled_rows_that_differ_from_the_others_give_a_warning(figures: Figures) -> None:
    longer = [
        row | {"response": "x" * (40 if number < 24 else 400)} for number, row in enumerate(ROWS)
    ]
    unlike = [
        figures(rows)["unlike"]
        for rows in (ROWS, SITUATIONS["labelled rows unlike the others"][0], longer)
    ]
    assert [list(each) for each in unlike] == [[], ["score"], ["length"]]


def test_rows_with_a_prompt_each_or_taken_as_clusters_get_no_note(run: Run) -> None:
    (shared, _), apart = (
        SITUATIONS["rows that share a prompt"],
        [row | {"prompt_id": n} for n, row in enumerate(ROWS)],
    )
    assert "independent" not in run(shared, "--cluster", "prompt_id").stdout + run(apart).stdout


def test_rows_drawn_with_unequal_probabilities_may_differ_without_a_warning(
    figures: Figures,
) -> None:
    picked = [{"score": 1, "human": 1, "p": 0.5 if number else 0.4} for number in range(24)] + ROWS[
        24:
    ]
    assert figures(picked, "--probability", "p")["unlike"] == {}


def test_label_stands_for_the_stratum_that_it_was_drawn_in(figures: Figures) -> None:
    # Two weeks of ten responses, all scored 3. The first has five labels of 4, the second one label
    # of 1, all drawn with the same probability. Each week counts by its ten responses, not by its
    # labels: (4 + 1) / 2, not 21 / 6.
    rows = [{"score": 3, "human": 4, "probability": 0.5, "stratum": "a"}] * 5 + [
        {"score": 3, "stratum": "a"}
    ] * 5
    rows += [{"score": 3, "human": 1, "probability": 0.5, "stratum": "b"}] + [
        {"score": 3, "stratum": "b"}
    ] * 9
    assert figures(rows)["mean"] == pytest.approx(2.5)
    assert figures(rows, "--probability", "probability")["mean"] == pytest.approx(3.5)


def test_the_mean_is_that_of_the_average_person_where_people_labelled_the_same_replies(
    run: Run,
) -> None:
    # Ann gives a point less than people do, and most of the labels.
    by = [row | {"label_by": "ann", "case": number} for number, row in enumerate(ROWS[:24])]
    said = " ".join(run([*by, *ROWS[24:]]).stdout.split())
    assert "Mean 2.19," in said
    assert "Careful: one person gave 100% of the labels" in said
    shared = [row for row in by if row["human"] < 4][:14]
    for row in shared[:7]:
        row |= {"label_by": ["ann", "cat", "ben"], "human": [row["human"], None, row["human"] + 2]}
    by += [row | {"label_by": "ben", "human": row["human"] + 2} for row in shared[7:]]
    said = " ".join(run([*by, *ROWS[24:]]).stdout.split())
    assert "Mean 3.18," in said
    assert (
        "average of 2 people, by 28 labels of replies that several labelled: ann gives "
        "-0.97, ben gives +0.97."
    ) in said
    assert "Careful: one person" not in said
