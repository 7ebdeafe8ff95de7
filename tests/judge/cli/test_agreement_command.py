import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from judge.scoring.rubric import load_rubric
from tests.judge_command import Done
from tests.judge_command import run as judge
from tests.tables import each
from tests.texts import unlike

# Two prompts and two judges. Labels are from 0 to 1.
ROWS: list[dict[str, Any]] = [
    {"prompt_id": 1, "response": "a", "human": 1.0, "model": "one", "score": 5},
    {"prompt_id": 1, "response": "b", "human": 0.6, "model": "one", "score": 3},
    {"prompt_id": 1, "response": "c", "human": 0.2, "model": "one", "score": 3},
    {"prompt_id": 2, "response": "d", "human": 0.8, "model": "one", "score": 2},
    {"prompt_id": 2, "response": "e", "human": 0.0, "model": "one", "score": None},
    {"prompt_id": 1, "response": "a", "human": 1.0, "model": "two", "score": 4},
    {"prompt_id": 1, "response": "b", "human": 0.6, "model": "two", "score": 4},
    {"prompt_id": 2, "response": "d", "human": None, "model": "two", "score": 1},
]


def run(*arguments: object) -> Done:
    return judge("agreement", *arguments)


@pytest.fixture
def scored(tmp_path: Path) -> str:
    return write(tmp_path, ROWS)


FAIR = {"score": 3, "human": 3}
# The mean score is 3.69, that of the labelled rows 3.5. People give one or two points less.
FEW_LABELLED: list[dict[str, Any]] = [
    {"score": score, "human": max(score - 1 - i // 4 % 2, 0)}
    for i, score in enumerate([2, 3, 4, 5] * 6)
]
FEW_LABELLED += [{"score": score, "human": None} for score in [3, 4, 4, 3, 4, 4, 3, 5] * 10]
BY_TWO = [{"label_by": "ann", "human": 1}, {"label_by": ["ann", "ben"], "human": [1, 3]}]
WIDE = load_rubric("additive-5").prompt.replace("between 0 and 5", "between 0 and 100")
SITUATIONS: dict[str, tuple[list[Any], list[str]]] = {
    "lines that cannot be used": ([FAIR, "not json", {"score": 3, "human": 9}], []),
    "many of them": ([FAIR, *[{"score": 3, "human": "no"}] * 12], []),
    "people on unscored responses": (
        [FAIR | {"human": [3, 3]}, {"score": None, "human": [1, 1]}],
        [],
    ),
    "another score for the same response": ([FAIR | {"case": 1, "score": n} for n in (3, 4)], []),
    "a model that answered under two names": (
        [FAIR | {"ratings": [{"model": "m", "served": each}]} for each in "ab"],
        [],
    ),
    "a matrix too wide to print": ([{"score": 70, "human": 60}], ["--rubric", "wide.txt"]),
    "two judges": (ROWS, ["--scale", "0-1"]),
    "labels that look like another scale": ([FAIR | {"human": 1}], []),
    "control characters in a name": ([FAIR | {"model": "a\x1b]0;b\x07"}], []),
    "labels on some": (FEW_LABELLED, []),
    "too few of them": (FEW_LABELLED[10:], []),
    "labels of unequal weight": (
        [row | {"probability": 0.1 if i < 4 else 1.0} for i, row in enumerate(FEW_LABELLED)],
        [],
    ),
    "labelled rows unlike the others": ([{"score": 1, "human": 1}] * 24 + FEW_LABELLED[24:], []),
    "labels given after the score was seen": ([FAIR | {"blind": False}], []),
    "labels of a strict person": ([FAIR | by for by in BY_TWO for _ in range(14)], []),
}


def write(folder: Path, rows: list[Any]) -> str:
    path = folder / "scored.jsonl"
    path.write_text(
        "\n".join(each if isinstance(each, str) else json.dumps(each) for each in rows),
        encoding="utf-8",
    )
    return str(path)


def test_the_report_is_complete_and_fits_80_columns(
    tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    done = run(write(tmp_path, ROWS[:5]), "--label", "human", "--scale", "0-1")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", snapshot)
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_what_a_report_says_in_each_situation_reads_as_in_the_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """Only what differs from the usual sentences; the lines of tables, which have columns, are left
    out.
    """
    monkeypatch.chdir(tmp_path)
    Path("wide.txt").write_text(WIDE, encoding="utf-8")

    def said(rows: list[Any], *options: str) -> str:
        done = run(write(tmp_path, rows), "--label", "human", *options)
        if done.returncode == 2:
            return done.stderr + usual
        lines = f"{done.stdout}{done.stderr}exit code {done.returncode}".splitlines()
        return "\n".join(line for line in lines if line and not re.search(r"\S  |──", line))

    usual = ""
    usual = said([FAIR])
    parts = [f"== usual\n{usual}"]
    for name, (rows, options) in SITUATIONS.items():
        parts.append(f"== {name}\n{unlike(usual, said(rows, *options))}")
    assert "\n".join(parts) == snapshot


@each(
    ("arguments", "message"),
    [
        (["--label", "human", "--scale", "one"], "--scale one: give the labels' lowest and"),
        (["--label", "gold"], "--label gold: no line has this field; the fields are prompt_id,"),
        (
            ["--label", "response"],
            'No response has both a score and a label that can be used (line 1: label "a" is',
        ),
    ],
)
def test_wrong_options_give_one_sentence_and_exit_code_2(
    scored: str, arguments: list[str], message: str
) -> None:
    done = run(scored, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(message)


def test_a_missing_extra_names_the_command_that_installs_it(
    scored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    done = run(scored, "--label", "human")
    assert (done.returncode, done.stderr[:29]) == (2, "judge agreement needs scipy: ")


def test_agreement_is_given_for_each_group_with_enough_labels(tmp_path: Path) -> None:
    # The judge is one point off on every third Korean row.
    rows = [
        {"prompt": f"p{n}", "completion": f"c{n}", "language": language}
        | {"score": n % 5 + (language == "ko" and n % 3 == 0), "human": n % 5}
        for n, language in enumerate(["en"] * 60 + ["ko"] * 25 + ["ja"] * 5)
    ]
    out = run(write(tmp_path, rows), "--label", "human", "--by", "language").stdout
    table = out[out.index("By language") :].split("Scale 0 to 5")[0]
    assert re.search(r"en +60 +2\.00 +1\.00 +100\.0% +0\.00", table)
    assert re.search(r"ko +25 +2\.00 +0\.\d\d +100\.0% +0\.36", table)
    kinder = "the judge is clearly kinder to ko than the others, by 0.36 (Holm's test of 2)."
    assert kinder in " ".join(table.split())


def test_rows_without_a_week_are_grouped_by_that_of_their_verdict(tmp_path: Path) -> None:
    rows = [FAIR | {"judged_at": f"2026-11-{day}T10:00:00+00:00"} for day in (15, 16, 22)]
    done = run(write(tmp_path, rows), "--label", "human", "--by", "week", "--json")
    report = json.loads(done.stdout)
    groups = [(each["part"], each["responses"]) for each in report["by_group"]]
    assert groups == [("2026-W47", 2), ("2026-W46", 1)]
    assert report["with_people"][0]["measures"]["exact_match"]["value"] == 1


def by_person(rows: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """A reply for each language and person; Ann gives two points less than the judge."""
    numbered = [
        {"prompt": f"p{n}", "completion": f"c{n}", "score": n % 3 + 2} for n in range(len(rows))
    ]
    return [
        row
        | {"human": row["score"] - (0 if who == "ben" else 2)}
        | {"label_by": who, "language": language}
        for row, (language, who) in zip(numbered, rows, strict=True)
    ]


def test_a_stricter_person_is_not_taken_for_a_kinder_judge(tmp_path: Path) -> None:
    rows = by_person([("en", "ben")] * 30 + [("ko", "ann")] * 30)
    out = run(write(tmp_path, rows), "--label", "human", "--by", "language").stdout
    said = " ".join(out.split())
    why = "each side has other people's labels, and they share no reply"
    assert f"en: not compared with the others, since {why}." in said
    assert "clearly kinder" not in said
    assert re.search(r"ann +30 .* 2\.00", out)


def test_many_groups_are_not_told_apart_by_chance(tmp_path: Path) -> None:
    # Of ten languages of 20 rows, one has an error of a point on 4: 0.2 / 0.092, with a chance of
    # 4% alone.
    rows = [
        {"prompt": f"p{n}", "completion": f"c{n}", "language": f"l{n // 20}", "human": n % 4}
        | {"score": n % 4 + (n % 20 in (0, 4, 8, 12)) * (n < 20)}
        for n in range(200)
    ]
    alone = [row | {"language": "l0" if n < 20 else "l1"} for n, row in enumerate(rows)]
    for given, is_clear in ((rows, False), (alone, True)):
        out = run(write(tmp_path, given), "--label", "human", "--by", "language").stdout
        assert ("clearly kinder to l0" in " ".join(out.split())) == is_clear
