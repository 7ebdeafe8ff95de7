"""`judge batch` and `judge score` with a stronger model, and the commands that read their rows."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from judge.rows.row_file import Row
from tests.judge_command import Done, run
from tests.model_server import Failure, ModelServer, Reply
from tests.row_files import read, write


async def batch(server: ModelServer, source: Path, output: Path, *options: object) -> Done:
    command = ["batch", source, "-o", output, "--model", "small", "--concurrency", 1, *options]
    return await asyncio.to_thread(run, *command, OPENAI_BASE_URL=server.base_url)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    rows = [
        {"prompt": "How do I boil an egg?", "completion": f"Answer {n}.", "human": n}
        for n in (1, 2)
    ]
    return write(tmp_path / "in.jsonl", *rows)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


@pytest.fixture
def judges(model_server: ModelServer) -> ModelServer:
    """The small model answers 5, 3 and 4 for the first row and then always 4; the big one always
    answers 1.
    """
    small = iter([5, 3, 4])

    def answer(request: dict[str, Any]) -> Reply:
        if "n" in request:
            return Failure(400, param="n", message="Unsupported value: 'n'")
        score = 1 if request["model"] == "big" else next(small, 4)
        return f"score: {score}\nSo."

    model_server.script(answer)
    return model_server


async def test_a_row_names_the_model_that_scored_it_and_keeps_both_models_ratings(
    judges: ModelServer, source: Path, output: Path
) -> None:
    done = await batch(judges, source, output, "--escalate-to", "big")
    first, second = read(output)
    assert done.returncode == 0, done.stderr
    assert (first["score"], first["model"], first["escalation"], first["basis"]) == (
        1,
        "big",
        "small > big",
        "2 of 2",
    )
    assert [(each["model"], each["score"]) for each in first["ratings"]] == [
        *(("small", score) for score in (5, 3, 4)),
        *(("big", 1),) * 2,
    ]
    assert (second["score"], second["model"], second["escalation"]) == (4, "small", "small > big")
    assert "Scored by the stronger model: 1 of 2 rows (see `model`)." in done.stdout
    assert "fewer ratings than asked for" not in done.stdout


async def test_the_run_goes_on_only_with_the_same_models(
    judges: ModelServer, source: Path, output: Path
) -> None:
    await batch(judges, source, output, "--escalate-to", "big", "--limit", 1)
    another = await batch(judges, source, output)
    same = await batch(judges, source, output, "--escalate-to", "big")
    assert another.returncode == 2
    assert "judged with escalation 'small > big', and now it is None" in " ".join(
        another.stderr.split()
    )
    assert (same.returncode, len(read(output))) == (0, 2)


async def test_a_stronger_model_that_fails_is_reported_and_the_row_counts_as_complete(
    model_server: ModelServer, source: Path, output: Path
) -> None:
    small = iter([5, 3, 4, 4, 4, 4])

    def answer(request: dict[str, Any]) -> Reply:
        if request["model"] == "big":
            return Failure(404, code="model_not_found")
        return (
            Failure(400, param="n", message="no n")
            if "n" in request
            else f"score: {next(small)}\nSo."
        )

    model_server.script(answer)
    done = await batch(model_server, source, output, "--escalate-to", "big")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("line 1, without 'big'") == 1
    assert [(row["score"], row["model"]) for row in read(output)] == [(4, "small"), (4, "small")]
    assert "fewer ratings than asked for" not in done.stdout


async def test_other_commands_take_both_models_as_one_judge(
    judges: ModelServer, source: Path, output: Path, tmp_path: Path
) -> None:
    await batch(judges, source, output, "--escalate-to", "big")
    agreement = run("agreement", output, "--label", "human", "--json")
    estimate = run("estimate", output, "--label", "human", "--json")
    pairs = run("pairs", output, "-o", tmp_path / "pairs.jsonl")
    assert (estimate.returncode, pairs.returncode) == (0, 0), estimate.stderr + pairs.stderr
    assert "small > big" in agreement.stdout
    assert json.loads(estimate.stdout)["n"] == 2
    assert "Pairs: 1," in pairs.stdout


async def test_score_says_why_another_model_was_asked(judges: ModelServer) -> None:
    command = ["score", "--question", "Why?", "--response", "Because.", "--model", "small"]
    environment = {"OPENAI_BASE_URL": judges.base_url, "JUDGE_ESCALATE_TO": "big"}
    done = await asyncio.to_thread(run, *command, **environment)
    said = " ".join(done.stdout.split())
    assert said.startswith("Score: 1 of 5")
    assert (
        "judged by big, since small's ratings went from 3 to 5 · 2 of 2 ratings: 1, 1 · model big"
        in said
    )


def test_an_escalation_field_of_another_program_does_not_name_the_judge() -> None:
    assert Row(1, {"model": "m", "escalation": "urgent"}).judge == "m"
    assert (
        Row(1, {"model": "b", "escalation": "a > b", "rubric_version": "f846c469"}).judge == "a > b"
    )
