import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from judge.errors import SetupError
from judge.rows.exports import make_pairs
from judge.rows.row_file import RowFile
from tests.judge_command import Done
from tests.judge_command import run as judge
from tests.row_files import write
from tests.tables import each


def row(prompt: str, completion: str, score: object, **fields: object) -> dict[str, Any]:
    return {"prompt": prompt, "completion": completion, "score": score, **fields}


def by(model: str, **fields: object) -> dict[str, Any]:
    return {"model": model, "rubric_version": "f846c469", "samples": 3, **fields}


def pair(
    path: Path, *rows: Mapping[str, Any] | str
) -> tuple[list[dict[str, Any]], Counter[str], list[str]]:
    counts = Counter[str]()
    file = RowFile.at(write(path / "scored.jsonl", *rows))
    pairs = [json.loads(each) for each in make_pairs(file, counts)]
    return pairs, counts, file.problems


def run(*arguments: object) -> Done:
    return judge("pairs", *arguments)


def test_best_is_paired_with_worst(tmp_path: Path) -> None:
    scores = {"so-so": 3, "good": 5, "bad": 0}
    rows = [row("Why?", text, score, prompt_id="p1") for text, score in scores.items()]
    pairs, counts, _ = pair(tmp_path, *rows)
    assert pairs == [
        {"prompt_id": "p1", "prompt": "Why?", "chosen": "good", "rejected": "bad"}
        | {"score_chosen": 5, "score_rejected": 0}
    ]
    assert counts == Counter(pairs=1)


def test_responses_to_one_conversation_are_paired_as_messages(tmp_path: Path) -> None:
    def said(before: str, answer: str, score: int) -> dict[str, Any]:
        turns = [("user", before), ("assistant", "Yes?"), ("user", "Why?"), ("assistant", answer)]
        return {
            "messages": [{"role": role, "content": text} for role, text in turns],
            "score": score,
        }

    rows = [said("Hi", "good", 5), said("Oi", "another", 1), said("Hi", "bad", 2)]
    pairs, counts, _ = pair(tmp_path, *rows)
    assert counts == Counter(pairs=1, alone=1)
    messages = rows[0]["messages"]
    assert (pairs[0]["prompt"], pairs[0]["chosen"]) == (messages[:3], messages[3:])
    beside = [row("Why?", text, ord(text), conversation=messages[:2]) for text in "ab"]
    (found,), _, _ = pair(tmp_path, *beside)
    assert found["prompt"] == messages[:3]
    assert found["chosen"] == [{"role": "assistant", "content": "b"}]


@each(
    ("rows", "counts"),
    [
        # Rows belong together by their id and its type, or else by their prompt.
        ([("Why?", 1, None), ("Why?", 2, None), ("How?", 3, None)], {"pairs": 1, "alone": 1}),
        ([("a", 1, 1), ("a", 2, "1")], {"alone": 2}),
        ([("tie", 3, None), ("tie", 3, None)], {"ties": 1}),
        ([("half", None, None), ("half", 5, None), ("", None, None)], {"alone": 1, "unscored": 2}),
    ],
)
def test_prompts_with_and_without_a_pair_are_counted(
    tmp_path: Path, rows: list[tuple[str, int | None, object]], counts: dict[str, int]
) -> None:
    _, found, _ = pair(
        tmp_path, *(row(prompt, "x", score, prompt_id=id_) for prompt, score, id_ in rows)
    )
    assert found == Counter(counts)


TWO_JUDGES = r"model a, .* in line 1; .* in line 2\), and scores of different judges"


@each(
    ("rows", "message"),
    [
        (
            [row("a", "x", 1, prompt_id=7), "", row("b", "y", 2, prompt_id=7)],
            r"prompt_id 7 has one prompt in line 1 and another in line 3;",
        ),
        *(
            ([row("p", "x", 1, **by("a")), row("p", "y", 2, **other)], TWO_JUDGES)
            for other in (by("b"), by("a", samples=1), {})
        ),
    ],
)
def test_rows_of_two_prompts_or_judges_are_not_mixed(
    tmp_path: Path, rows: list[dict[str, Any] | str], message: str
) -> None:
    with pytest.raises(SetupError, match=message):
        pair(tmp_path, *rows)


def test_model_that_wrote_the_responses_is_not_taken_for_the_judge(tmp_path: Path) -> None:
    pairs, _, _ = pair(
        tmp_path, row("p", "x", 1, model="a", reasoning="r"), row("p", "y", 2.5, model="b")
    )
    assert pairs[0]["score_chosen"] == 2.5


@each(
    ("bad", "expected"),
    [
        ("{", "line 2: not JSON"),
        ({"prompt": "p", "completion": "x"}, "line 2: no score; 'judge batch' adds them"),
        (row("p", "x", "5"), 'line 2: score "5" is not a number'),
        (row("p", "x", float("nan")), "line 2: score NaN is not a number"),
    ],
)
def test_line_that_is_not_a_scored_row_is_reported_and_skipped(
    tmp_path: Path, bad: dict[str, Any] | str, expected: str
) -> None:
    pairs, _, reports = pair(tmp_path, row("p", "a", 1), bad, row("p", "b", 2))
    assert len(pairs) == 1
    assert [report.startswith(expected) for report in reports] == [True]


def test_command_counts_what_it_leaves_out(tmp_path: Path) -> None:
    source = write(
        tmp_path / "scored.jsonl", row("p", "a", 1), row("p", "b", 2), row("q", "a", 1), "{"
    )
    done = run(source, "-o", tmp_path / "pairs.jsonl")
    assert done.returncode == 1
    assert " ".join(done.stdout.split()) == (
        f"Pairs: 1, in {tmp_path}/pairs.jsonl. Prompts left out: 0 for a tie, 1 with one "
        "scored response. Lines left out: 0 unscored, 1 skipped."
    )


@each(
    ("source", "output", "expected"),
    [
        ("scored.jsonl", "scored.jsonl", "scored.jsonl: the pairs would be written over"),
        ("scored.jsonl", "none/pairs.jsonl", "none/pairs.jsonl: cannot write it (no such file"),
        ("scored.jsonl", "pairs.csv", "pairs.csv: pairs are written as JSONL"),
        ("raw.jsonl", "kept.jsonl", "raw.jsonl: no line has a score; 'judge batch' adds them."),
    ],
)
def test_mistake_gives_one_sentence_and_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, output: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "scored.jsonl", row("p", "a", 1))
    write(tmp_path / "raw.jsonl", {"prompt": "p", "completion": "a"})
    kept = write(tmp_path / "kept.jsonl", {"prompt_id": 1})
    before = kept.read_bytes()
    done = run(source, "-o", output)
    assert done.returncode == 2
    assert done.stderr.startswith(expected)
    assert kept.read_bytes() == before
