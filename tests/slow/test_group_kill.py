"""A process is killed while cases share a commit: each that was accepted is in the store, once, and
no half one is.
"""

import asyncio
import os
import random
import signal
import sqlite3
import sys
from asyncio.subprocess import PIPE
from contextlib import closing
from pathlib import Path

import pytest

from bot.store import Store
from tests.cases import a_case, url

pytestmark = [pytest.mark.slow, pytest.mark.on("sqlite")]

LIVES = 4 * int(os.environ.get("CHAOS_ROUNDS", "1"))
SEED = int(os.environ.get("CHAOS_SEED", "1"))


async def begun(folder: Path, *point: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.slow.grouped", url(folder), *point, stdout=PIPE
    )


def stored(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / "log.db")) as log:
        assert log.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return [row[0] for row in log.execute("SELECT key FROM cases ORDER BY id")]


@pytest.mark.parametrize(("point", "number"), [("before", 20), ("within", 20), ("after", 40)])
async def test_of_a_group_that_is_killed_all_cases_are_stored_or_none(
    tmp_path: Path, point: str, number: int
) -> None:
    process = await begun(tmp_path, point)
    out, _ = await process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert out.decode().split() == [
        str(each) for each in range(20)
    ]  # none of the second group was accepted
    assert stored(tmp_path) == [str(each) for each in range(number)]
    async with await Store.open(url(tmp_path)) as log:
        told = [(await log.add(a_case(key=str(each))))[1] for each in range(40)]
    assert told.count(False) == number
    assert len(stored(tmp_path)) == 40


async def test_in_lives_that_end_at_any_moment_no_accepted_case_is_lost(tmp_path: Path) -> None:
    drawn = random.Random(SEED)
    print(f"{LIVES} lives, CHAOS_SEED={SEED}")
    for life in range(LIVES):
        folder = tmp_path / str(life)
        folder.mkdir()
        process = await begun(folder)
        accepted = [
            (await process.stdout.readline()).decode().strip()
            for _ in range(drawn.randrange(1, 200))
        ]
        process.kill()
        accepted += (await process.stdout.read()).decode().split()
        await process.wait()
        assert set(accepted) <= set(stored(folder))
