"""Commands about a log that is not where DATABASE_URL says: each says so, and none makes one."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import inspect

from bot.store.opening import connect
from tests.programs import run

COMMANDS = (("export",), ("health",))


async def said(folder: Path, database_url: str, command: tuple[str, ...]) -> tuple[int, str]:
    """What a command says of a database, on one line, with its exit code; it asks Slack for nothing
    before.
    """
    env = {"PATH": os.environ["PATH"], "DATABASE_URL": database_url, "SLACK_BOT_TOKEN": "xoxb-1"}
    name, *options = command
    code, out, err = await run(name, env, folder, *options)
    (line,) = f"{out}{err}".splitlines()
    return code, line


async def test_a_mistyped_file_is_named_and_not_made(tmp_path: Path) -> None:
    file = f"{tmp_path}/typo/none.db"
    for command in COMMANDS:
        code, line = await said(tmp_path, f"sqlite:///{file}", command)
        assert (command, code) == (command, 1 if command == ("health",) else 2)
        assert line.endswith(
            f"DATABASE_URL sqlite+aiosqlite:///{file}: there is no such file; "
            "name the database of your bot, or create one with judge-bot serve"
        )
        assert not (tmp_path / "typo").exists()


async def test_a_file_of_another_program_is_named_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes of ann?.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE notes (text)")
    before = file.read_bytes()

    _, line = await said(tmp_path, f"sqlite:///{str(file).replace('?', '%3F')}", ("audit",))

    assert "it has no tables; name the database of your bot" in line
    assert file.read_bytes() == before
    assert [each for each in os.listdir(tmp_path) if each.startswith("notes")] == [file.name]


async def test_a_mistyped_database_of_a_server_stays_empty(
    new_postgres_url: str, tmp_path: Path
) -> None:
    _, line = await said(tmp_path, new_postgres_url, ("audit",))

    assert "DATABASE_URL postgresql://" in line
    assert ": it has no tables; " in line
    engine = connect(new_postgres_url)
    async with engine.connect() as connection:
        assert await connection.run_sync(lambda opened: inspect(opened).get_table_names()) == []
    await engine.dispose()
