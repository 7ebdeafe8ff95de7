"""RETENTION_DAYS in a running bot, and `judge-bot purge` as an operator types it."""

import asyncio
import os
import pty
import signal
import sqlite3
from asyncio.subprocess import PIPE
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from bot.domain.case import CaseStatus
from bot.slack import ids
from bot.store import Store
from tests.cases import delivered, newest, url
from tests.programs import JUDGE_BOT, run
from tests.stage import Stage, StageFactory


async def aged_log(folder: Path, *ages_days: float) -> None:
    """A log with one delivered case of each age."""
    async with await Store.open(url(folder)) as log:
        for number, days in enumerate(ages_days):
            await delivered(log, str(number), timedelta(days=days))


async def left(folder: Path) -> int:
    async with await Store.open(url(folder)) as log:
        return sum((await log.cases.counts()).values())


async def purge(folder: Path, *options: str, **env: str) -> tuple[int, str, str]:
    """The command, with no more of an environment than it needs."""
    return await run(
        "purge", {"PATH": os.environ["PATH"], "DATABASE_URL": url(folder), **env}, folder, *options
    )


async def test_in_a_terminal_purge_asks_before_it_deletes_and_can_be_interrupted(
    tmp_path: Path,
) -> None:
    await aged_log(tmp_path, 40)
    keyboard, terminal = pty.openpty()
    env = {"PATH": os.environ["PATH"], "DATABASE_URL": url(tmp_path)}
    command = (JUDGE_BOT, "purge", "--days", "30")
    streams = {"stdin": terminal, "stdout": PIPE, "stderr": PIPE}
    process = await asyncio.create_subprocess_exec(*command, env=env, **streams)
    await process.stdout.readuntil(b"Delete them all?")
    process.send_signal(signal.SIGINT)
    os.write(keyboard, b"y\n")
    _, error = await process.communicate()
    os.close(keyboard)
    os.close(terminal)
    assert (process.returncode, error, await left(tmp_path)) == (1, b"Aborted!\n", 1)


async def test_a_wrong_age_or_none_deletes_nothing(tmp_path: Path) -> None:
    await aged_log(tmp_path, 40)
    missing = "judge-bot: give --days N, or set RETENTION_DAYS\n"
    assert await purge(tmp_path) == (2, "", missing)
    code, _, err = await purge(tmp_path, RETENTION_DAYS="0")
    assert (code, "RETENTION_DAYS: expected" in err) == (2, True)
    for days in ("0", "99999999999"):
        code, _, err = await purge(tmp_path, "--days", days)
        assert (code, "'--days'" in err) == (2, True)
    assert await left(tmp_path) == 1


async def test_a_log_that_cannot_be_written_or_read_is_a_sentence(tmp_path: Path) -> None:
    await aged_log(tmp_path, 40)
    refusing = "CREATE TRIGGER held BEFORE DELETE ON cases BEGIN SELECT RAISE(ABORT, 'held'); END"
    for broken, said in (
        (refusing, "written (held); what was deleted before stays deleted"),
        (
            "DROP TRIGGER held; ALTER TABLE cases RENAME status TO gone",
            "read (no such column: cases.status); nothing was deleted",
        ),
    ):
        with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as other:
            other.executescript(broken)
        code, _, err = await purge(tmp_path, "--days", "30")
        assert (code, err) == (2, f"judge-bot: the database cannot be {said}\n")


async def test_a_bot_that_starts_deletes_what_is_too_old(
    open_stage: StageFactory, tmp_path: Path
) -> None:
    await aged_log(tmp_path, 8, 6)
    stage: Stage = await open_stage(retention_days=7)
    _, answer = stage.ask_and_answer()
    await stage.slack.settled(stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer))
    await stage.reaches(3, CaseStatus.DELIVERED)
    assert [case.id for case in await newest(stage.log, 10)] == [2, 3]


async def test_purge_of_a_team_asks_first(tmp_path: Path) -> None:
    await aged_log(tmp_path, 2, 1)
    code, _, err = await purge(tmp_path, "--team", "T1")
    assert (code, err, await left(tmp_path)) == (1, "Aborted!\n", 2)
    code, out, err = await purge(tmp_path, "--team", "T1", "--yes")
    assert (code, err) == (0, "")
    assert out.endswith("2 cases deleted, with everything else of T1\n")
    assert await left(tmp_path) == 0
    assert "nothing is stored" in (await purge(tmp_path, "--team", "T0", "--yes"))[2]
