"""`judge align` against a test server whose scores depend on the words of the rubric."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.errors import SetupError
from judge.evaluation.align.files import FileMemory
from tests.judge_command import Done, run
from tests.model_server import Answer, ModelServer
from tests.row_files import write
from tests.tables import each

JUDGE = str(Path(sys.executable).with_name("judge"))
HELPS = "- Take no point off for being short.\n"


def row(number: int, **fields: Any) -> dict[str, Any]:
    human = number % 4 + 1
    answer = f"Answer {number}, {'short' if number % 3 else 'long'}, worth {human}."
    return {"prompt": f"Question {number}?", "completion": answer, "human": human, **fields}


def kind(points: int) -> Callable[[dict[str, Any]], Answer]:
    """A judge that scores some points above people."""

    def answer(request: dict[str, Any]) -> Answer:
        worth = int(re.findall(r"worth (\d)\.", request["messages"][0]["content"])[-1])
        return Answer(f"score: {min(worth + points, 5)}\nAs it seems.")

    return answer


def strict_with_the_short(request: dict[str, Any]) -> Answer:
    """A judge that deducts two points from short answers until the rubric forbids it, and a model
    that proposes so.
    """
    prompt = request["messages"][0]["content"]
    if "The criteria:" in prompt:
        return Answer(f"```\n{prompt.partition('```')[2].partition('```')[0]}\n{HELPS}```")
    response = prompt.rpartition("<response>")[2]
    off = 2 if "short" in response and HELPS.strip() not in prompt else 0
    worth = int(re.findall(r"worth (\d)\.", response)[0])
    return Answer(f"score: {max(worth - off, 0)}\nAs it seems.")


def text_of(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


async def align(server: ModelServer, source: Path, output: Path, *options: object) -> Done:
    arguments = "align", source, "--label", "human", "-o", output, "--samples", 1, *options
    return await asyncio.to_thread(run, *arguments, OPENAI_BASE_URL=server.base_url)


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the user's data is kept."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "aligned.txt"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "labelled.jsonl", *map(row, range(60)))


async def test_a_better_rubric_is_written_and_can_be_used_to_score(
    model_server: ModelServer, source: Path, output: Path
) -> None:
    model_server.script(strict_with_the_short)
    done = await align(model_server, source, output, "--by", "rubric")
    assert done.returncode == 0, done.stderr
    assert HELPS in (text_of(output) or "")
    assert f"+{HELPS}" in done.stdout
    assert re.search(r"Points from people +1\.\d\d +0\.00\n", done.stdout)
    assert max(map(len, done.stdout.splitlines())) <= 120
    arguments = (
        "score",
        "--question",
        "Why?",
        "--response",
        "A short one, worth 4.",
        "--samples",
        1,
        "--rubric",
        output,
    )
    scored = await asyncio.to_thread(run, *arguments, OPENAI_BASE_URL=model_server.base_url)
    assert "Score: 4 of 5" in scored.stdout


async def test_a_lenient_judge_is_calibrated_from_the_scores_in_the_file_without_requests(
    model_server: ModelServer, source: Path, output: Path, tmp_path: Path
) -> None:
    model_server.script(kind(2))
    scored = tmp_path / "scored.jsonl"
    batch = "batch", source, "-o", scored, "--samples", 1
    await asyncio.to_thread(run, *batch, OPENAI_BASE_URL=model_server.base_url)
    asked = len(model_server.requests)
    done = await align(model_server, scored, output, "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["requests"], len(model_server.requests)) == (0, 0, asked)
    # The judge gives 5 for labels of 3 and 4 alike, so a 5 maps to their mean 3.5, which rounds to
    # 4.
    assert "calibration: 3=1 4=2 5=3." in (text_of(output) or "")
    assert [trial["is_better"] for trial in found["trials"]] == [True]


async def test_a_judge_that_agrees_with_people_is_not_changed(
    model_server: ModelServer, source: Path, output: Path
) -> None:
    model_server.script(kind(0))
    done = await align(model_server, source, output)
    assert done.returncode == 1
    assert "Nothing is changed" in done.stdout
    assert "judge and people agree already" in " ".join(done.stdout.split())
    assert len(model_server.requests) == 24
    assert text_of(output) is None


async def test_blind_labels_are_preferred_and_several_labels_count_as_their_mean(
    model_server: ModelServer, output: Path, tmp_path: Path
) -> None:
    model_server.script(kind(2))
    rows = [
        row(number, case=number, thread=f"t{number}", label_by=by, blind=by == "ann", human=human)
        for number in range(24)
        for by, human in (("ann", number % 4 + 1), ("bob", 0))
    ]
    done = await align(
        model_server, write(tmp_path / "rows.jsonl", *rows), output, "--by", "calibration"
    )
    assert done.returncode == 0, done.stderr
    assert "all will be from 1 to 4." in " ".join(done.stdout.split())
    assert "9 labelled rows to learn from (9 threads), 15 to test on (15)." in done.stdout
    assert len(model_server.requests) == 24


def test_labels_of_one_person_are_pointed_out(output: Path, tmp_path: Path) -> None:
    source = write(tmp_path / "rows.jsonl", *(row(number, label_by="ann") for number in range(12)))
    done = run("align", source, "--label", "human", "-o", output, "--model", "offline")
    assert "Careful: one person gave 100% of the labels" in done.stdout


@each(
    ("rows", "options", "sentence"),
    [
        (11, (), "learning from them takes 12: 1 more"),
        (12, ("--by", "magic"), "--by magic: name calibration, examples or rubric."),
    ],
)
def test_labels_that_cannot_be_learnt_from_give_one_sentence(
    rows: int, options: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    source = write(tmp_path / "rows.jsonl", *map(row, range(rows)))
    arguments = (
        "align",
        source,
        "--label",
        "human",
        "-o",
        tmp_path / "out.txt",
        "--model",
        "offline",
        *options,
    )
    done = run(*arguments)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_the_offline_rater_has_no_budget(source: Path, output: Path) -> None:
    done = run(
        "align", source, "--label", "human", "-o", output, "--model", "offline", "--max-requests", 1
    )
    assert done.returncode == 1
    assert "60 requests, 0 tokens," in done.stdout


def test_an_existing_output_is_not_replaced(source: Path, output: Path) -> None:
    output.write_text("A rubric of mine.")
    done = run("align", source, "--label", "human", "-o", output, "--model", "offline")
    assert done.returncode == 2
    assert output.read_text() == "A rubric of mine."


def test_an_output_in_a_missing_folder_is_refused_before_any_request(source: Path) -> None:
    done = run(
        "align",
        source,
        "--label",
        "human",
        "-o",
        source.parent / "new" / "out.txt",
        "--model",
        "offline",
    )
    assert done.returncode == 2
    assert "there is no folder" in done.stderr
    assert not source.with_name("labelled.align.jsonl").exists()


async def test_labels_in_another_file_with_other_blanks_and_cases_are_the_same_labels(
    model_server: ModelServer, source: Path, output: Path, tmp_path: Path, data: Path
) -> None:
    model_server.script(kind(1))
    first = await align(model_server, source, output, "--json", "--model", "one")
    source.with_name("labelled.align.jsonl").unlink()
    rows = (row(number) for number in range(5, 60))
    rows = (
        each | {"prompt": f" {each['prompt'].upper()}", "completion": f"{each['completion']} "}
        for each in rows
    )
    copy = write(tmp_path / "copy.jsonl", *rows)
    again = await align(model_server, copy, tmp_path / "again.txt", "--json", "--model", "two")
    assert [json.loads(done.stdout)["trials"][0]["attempt"] for done in (first, again)] == [1, 2]
    kept = map(json.loads, (data / "slack-judge" / "align.jsonl").read_text().splitlines())
    assert [len(each["value"]) for each in kept if each["key"] == "parts"] == [60, 0]


def test_attempts_that_cannot_be_remembered_are_said(
    source: Path, output: Path, data: Path
) -> None:
    data.write_text("no folder")
    done = run("align", source, "--label", "human", "-o", output, "--model", "offline")
    assert f"{data}/slack-judge/align.jsonl cannot be written (not a directory)" in done.stderr


async def test_a_killed_alignment_goes_on_and_pays_for_nothing_twice(
    model_server: ModelServer, source: Path, output: Path
) -> None:
    answers = 0

    def answer(request: dict[str, Any]) -> Answer:
        nonlocal answers
        answers += 1
        if answers == 90:  # during the search for a rubric
            process.kill()
        return strict_with_the_short(request)

    model_server.script(answer)
    arguments = [
        "align",
        source,
        "--label",
        "human",
        "-o",
        output,
        "--samples",
        "1",
        "--by",
        "rubric",
    ]
    environment = os.environ | {"OPENAI_BASE_URL": model_server.base_url, "JUDGE_CONCURRENCY": "1"}
    process = await asyncio.create_subprocess_exec(JUDGE, *arguments, env=environment)
    await process.wait()
    assert text_of(output) is None
    done = await align(model_server, source, output, "--by", "rubric", "--concurrency", 1)
    assert done.returncode == 0, done.stderr
    prompts = [request["messages"][0]["content"] for request in model_server.requests]
    assert len(prompts) - len(set(prompts)) <= 1  # the request that was under way


async def test_answers_are_kept_for_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with FileMemory(path) as memory:
        await memory.put("a", {"score": 1})
        with pytest.raises(SetupError, match="is writing it; wait for its end, or copy the labels"):
            FileMemory(path)
    with FileMemory(path) as memory:
        assert await memory.get("a") == {"score": 1}
        assert await memory.get("b") is None
