"""Rows scored by a real Ray cluster of two workers."""

import asyncio
import json
import os
import signal
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from pyarrow import parquet

from judge import KeyRejectedError
from judge.integrations.ray import JudgeRows
from tests.model_server import Answer, Failure, ModelServer
from tests.patience import ONLY_A_HANG_S

pytestmark = pytest.mark.slow
ROWS = 160


def answer(request: dict[str, Any]) -> Answer:
    return Answer(f"score: {len(request['messages'][0]['content']) % 6}\nAs it seems.")


def written(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = parquet.read_table(folder).to_pylist()
    return rows


async def test_every_row_is_scored_once_even_if_a_worker_is_killed(model_server: ModelServer, tmp_path: Path) -> None:
    raw, scored, pids = (tmp_path / name for name in ("raw.jsonl", "scored", "pids"))
    rows = [{"prompt": f"Question {number}?", "completion": "An answer.", "id": number} for number in range(ROWS)]
    await asyncio.to_thread(raw.write_text, "".join(f"{json.dumps(row)}\n" for row in rows))
    await asyncio.to_thread(pids.mkdir)
    model_server.script(answer)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.slow.judge.ray_job", raw, scored, pids),
        env=os.environ | {"OPENAI_BASE_URL": model_server.base_url},
    )
    await model_server.asked(ROWS // 3)
    first = min(await asyncio.to_thread(lambda: [int(each.name) for each in pids.iterdir()]))
    os.kill(first, signal.SIGKILL)
    async with asyncio.timeout(ONLY_A_HANG_S):
        assert await process.wait() == 0
    found = await asyncio.to_thread(written, scored)
    assert sorted(row["id"] for row in found) == list(range(ROWS))
    assert {row["status"] for row in found} == {"scored"}


def judged(model_server: ModelServer, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    with closing(JudgeRows(model="judge", samples=1, timeout_s=30)) as score:
        found: list[dict[str, Any]] = score(pa.Table.from_pylist(rows)).to_pylist()
    return found


async def test_a_bad_row_does_not_fail_its_block(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.base_url)
    model_server.script(lambda request: Failure(400) if "worse" in str(request) else Answer("no idea"))
    rows = [
        {"prompt": "Why?", "completion": "Because it is so.", "score": 3},
        {"prompt": "Why?", "completion": None, "score": None},
        {"prompt": "Why?", "completion": "It is worse.", "score": None},
    ]
    found = await asyncio.to_thread(judged, model_server, *rows)
    assert [row["status"] for row in found] == ["unscored", "skipped", "failed"]
    assert [row["score"] for row in found] == [None, None, None]
    assert [row["input_score"] for row in found] == [3, None, None]


async def test_a_rejected_key_ends_the_job(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.base_url)
    model_server.script(Failure(401))
    with pytest.raises(KeyRejectedError):
        await asyncio.to_thread(judged, model_server, {"prompt": "Why?", "completion": "Because it is so."})
