"""Garbage collection in the running bot."""

import asyncio
import sys
from pathlib import Path

from tests.model_server import ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.programs import environment, pocket_slack

SERVE = """
import gc, sys
from bot.cli import main
sys.argv = ["judge-bot", "serve"]
try:
    main()
finally:
    print("frozen", gc.get_freeze_count() > 100_000)
"""


async def test_a_full_collection_skips_imported_objects(model_server: ModelServer, tmp_path: Path) -> None:
    async with pocket_slack() as slack, asyncio.timeout(ONLY_A_HANG_S):
        env = environment(slack, model_server, tmp_path)
        pipe, command = asyncio.subprocess.PIPE, (sys.executable, "-c", SERVE)
        process = await asyncio.create_subprocess_exec(
            *command, env=env, cwd=tmp_path, stdout=pipe, stderr=asyncio.subprocess.STDOUT
        )
        try:
            assert process.stdout
            while b'"connected"' not in (line := await process.stdout.readline()):
                assert line
            process.terminate()
            assert (await process.communicate())[0].endswith(b"frozen True\n")
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
