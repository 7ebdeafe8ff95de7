"""`judge batch` in processes of its own that are killed, interrupted and run twice."""

import asyncio
import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.model_server import ModelServer, Reply, Stall

pytestmark = pytest.mark.slow

JUDGE = str(Path(sys.executable).with_name("judge"))
ROWS = 60


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    rows = ({"prompt": f"What is {n} + {n}?", "completion": f"It is {n % 6}."} for n in range(ROWS))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def score_by_text(request: dict[str, Any]) -> Reply:
    found = re.search(r"It is (\d)\.", request["messages"][-1]["content"])
    return f"score: {found[1]}\nSo it says."


async def start(
    server: ModelServer, source: Path, output: Path, **streams: int
) -> asyncio.subprocess.Process:
    environment = {
        "PATH": os.environ["PATH"],
        "OPENAI_BASE_URL": server.base_url,
        "JUDGE_CONCURRENCY": "4",
    }
    if path := os.environ.get("PYTHONPATH"):
        environment["PYTHONPATH"] = path
    return await asyncio.create_subprocess_exec(
        *(JUDGE, "batch", source, "-o", output, "--samples", "1"),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=streams.get("stderr", asyncio.subprocess.PIPE),
    )


async def finish(process: asyncio.subprocess.Process) -> tuple[int, str, str]:
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), (err or b"").decode()


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) | {"latency_ms": 0} for line in path.read_text().splitlines()]


async def test_killed_runs_come_to_the_same_as_one_that_was_left_alone(
    model_server: ModelServer, source: Path, tmp_path: Path
) -> None:
    model_server.script(score_by_text)
    code, _, err = await finish(await start(model_server, source, tmp_path / "alone.jsonl"))
    assert code == 0, err
    asked_before = len(model_server.requests)
    for requests in (1, 7, 2, 13, 5):
        process = await start(model_server, source, tmp_path / "killed.jsonl")
        await model_server.asked(len(model_server.requests) + requests)
        process.kill()
        await process.communicate()

    code, _, err = await finish(await start(model_server, source, tmp_path / "killed.jsonl"))

    assert code == 0, err
    assert read(tmp_path / "killed.jsonl") == read(tmp_path / "alone.jsonl")
    asked_twice = len(model_server.requests) - asked_before - ROWS
    assert asked_twice <= 5 * 4  # what was under way at each kill


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
async def test_interrupted_run_keeps_what_is_finished_and_says_how_to_go_on(
    model_server: ModelServer, source: Path, tmp_path: Path, stop: signal.Signals
) -> None:
    output = tmp_path / "out.jsonl"
    model_server.script(*[score_by_text] * 10, Stall())
    process = await start(model_server, source, output)
    await model_server.asked(14)  # four stall, so that ten are on file
    process.send_signal(stop)

    code, out, err = await finish(process)

    assert (code, out) == (130, "")
    assert err == f"Interrupted: 10 of {ROWS} rows in {output}; run the same command to continue.\n"
    assert len(read(output)) == 10
    model_server.script(score_by_text)
    assert (await finish(await start(model_server, source, output)))[0] == 0
    assert [row["line"] for row in read(output)] == list(range(1, ROWS + 1))


async def test_second_process_on_the_same_output_is_refused(
    model_server: ModelServer, source: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out.jsonl"
    model_server.script(Stall())
    first = await start(model_server, source, output)
    await model_server.asked(4)

    code, _, err = await finish(await start(model_server, source, output))

    assert code == 2
    assert (
        err
        == f"{output}: another process is writing it; wait for its end, or choose another output.\n"
    )
    assert len(model_server.requests) == 4
    first.kill()
    await first.communicate()
    model_server.script(score_by_text)
    assert (await finish(await start(model_server, source, output)))[0] == 0
