"""Garbage collection in the running bot."""

import asyncio
import gc
from pathlib import Path

import pytest

from tests import forked
from tests.model_server import ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.programs import environment, pocket_slack


def serve() -> None:
    assert gc.get_freeze_count() == 0
    try:
        forked.serve("serve")
    finally:
        print("frozen", gc.get_freeze_count() > 100_000)


@pytest.mark.slow
async def test_a_full_collection_skips_imported_objects(
    model_server: ModelServer, tmp_path: Path
) -> None:
    async with pocket_slack() as slack, asyncio.timeout(ONLY_A_HANG_S):
        env = environment(slack, model_server, tmp_path)
        said = tmp_path / "said"
        async with forked.forked(
            "tests.app.test_garbage", env=env, output=said, folder=tmp_path
        ) as process:
            while '"connected"' not in (said.read_text() if said.exists() else ""):
                assert process.returncode is None
                await asyncio.sleep(0.01)
            process.terminate()
            await process.wait()
        assert said.read_text().endswith("frozen True\n")
