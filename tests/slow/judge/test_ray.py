"""Rows scored by a real Ray cluster of two workers."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from judge import KeyRejectedError
from judge.integrations.ray import JudgeRows
from tests.model_server import Answer, Failure, ModelServer
from tests.patience import ONLY_A_HANG_S

pytestmark = pytest.mark.slow
ROWS = 160


async def test_every_row_is_scored_once_even_if_a_worker_is_killed(
    model_server: ModelServer, tmp_path: Path
) -> None:
    def kill_a_worker(_: object) -> str:
        os.kill(min(int(each.stem) for each in tmp_path.glob("*.pid")), signal.SIGKILL)
        return "score: 3\nAs it seems."

    model_server.script(
        *["score: 3\nAs it seems."] * (ROWS // 3), kill_a_worker, "score: 3\nAs it seems."
    )
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "tests.slow.judge.ray_job", str(ROWS), str(tmp_path)],
        env=os.environ | {"OPENAI_BASE_URL": model_server.base_url},
        capture_output=True,
        timeout=4 * ONLY_A_HANG_S,  # beside other tests the start of a cluster alone can take one
    )
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(await asyncio.to_thread((tmp_path / "scored.json").read_bytes))
    assert sorted(row["id"] for row in found) == list(range(ROWS))
    assert {row["status"] for row in found} == {"scored"}


def judged(model_server: ModelServer, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    with closing(JudgeRows(model="judge", samples=1, timeout_s=30)) as score:
        found: list[dict[str, Any]] = score(pa.Table.from_pylist(rows)).to_pylist()
    return found


async def test_a_bad_row_does_not_fail_its_block(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.base_url)
    model_server.script(
        lambda request: Failure(400) if "worse" in str(request) else Answer("no idea")
    )
    rows = [
        {"prompt": "Why?", "completion": "Because it is so.", "score": 3},
        {"prompt": "Why?", "completion": None, "score": None},
        {"prompt": "Why?", "completion": "It is worse.", "score": None},
    ]
    found = await asyncio.to_thread(judged, model_server, *rows)
    assert [row["status"] for row in found] == ["unscored", "skipped", "failed"]
    assert [row["score"] for row in found] == [None, None, None]
    assert [row["input_score"] for row in found] == [3, None, None]


async def test_a_rejected_key_ends_the_job(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.base_url)
    model_server.script(Failure(401))
    with pytest.raises(KeyRejectedError):
        await asyncio.to_thread(
            judged, model_server, {"prompt": "Why?", "completion": "Because it is so."}
        )
