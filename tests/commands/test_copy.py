"""`judge-bot copy`: all rows from one database to another, once, and no mixture of two."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.store import Store
from bot.store.database import Database
from bot.store.ownership import Processes, owned
from bot.store.schema import cases, thumbs
from tests.cases import a_case
from tests.filled import TABLES, fill
from tests.programs import run


@pytest.fixture
def file_url(log_file: None, tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path}/log.db"


async def copy(source: str, target: str, folder: Path) -> tuple[int, str, str]:
    return await run("copy", {"PATH": os.environ["PATH"]}, folder, "--from", source, "--to", target)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Database]:
    store = await Store.open(url)
    yield store.database
    await store.close()


async def everything(url: str) -> dict[str, list[str]]:
    async with opened(url) as database:
        return {
            table.name: sorted(repr(tuple(row)) for row in await database.all(sa.select(table)))
            for table in TABLES
        }


async def add_one(url: str) -> int:
    """The number of a new case."""
    async with await Store.open(url) as store:
        return (await store.add(a_case()))[0].id


async def test_a_store_goes_to_postgresql_and_back_unchanged(
    file_url: str, postgres_url: str, tmp_path: Path
) -> None:
    async with opened(file_url) as database:
        await fill(database.engine, "T1", 1, rows=7)
        await fill(database.engine, "T2", 501)
        await database.execute(sa.delete(cases).where(cases.c.id == 502))
    back = f"sqlite:///{tmp_path}/back.db"
    for source, target in ((file_url, postgres_url), (postgres_url, back)):
        code, out, err = await copy(source, target, tmp_path)
        assert (code, err) == (0, "")
        assert "cases: 8 rows, the same in both" in out
        assert await everything(target) == await everything(file_url)
    # Both count on, also after a number whose case is deleted.
    assert [await add_one(postgres_url), await add_one(back)] == [503, 503]


async def test_an_interrupted_copy_goes_on(
    file_url: str, postgres_url: str, tmp_path: Path
) -> None:
    async with opened(file_url) as database:
        await fill(database.engine, "T1", 1, rows=4)
        await fill(database.engine, "T2", 501, rows=1201, tables=[thumbs])
    await copy(file_url, postgres_url, tmp_path)
    async with opened(postgres_url) as database:  # as if it had been killed in the midst of these
        await database.execute(sa.delete(cases).where(cases.c.id > 2))
        await database.execute(sa.delete(thumbs).where(thumbs.c.team_id == "T2", thumbs.c.is_up))
    code, _, err = await copy(file_url, postgres_url, tmp_path)
    assert (code, err) == (0, "")
    assert await everything(postgres_url) == await everything(file_url)


WHY = "Why? " * 400


@pytest.mark.parametrize("change", [{"question": f"{WHY[:800]}When{WHY[804:]}"}, {"id": 2}])
async def test_a_target_with_other_rows_is_refused(
    change: dict[str, object], file_url: str, postgres_url: str, tmp_path: Path
) -> None:
    async with await Store.open(file_url) as store:
        await store.add(a_case(question=WHY))
    await copy(file_url, postgres_url, tmp_path)
    async with opened(postgres_url) as database:
        await database.execute(sa.update(cases).values(change))
    before = await everything(postgres_url)
    code, out, err = await copy(file_url, postgres_url, tmp_path)
    assert (code, out) == (2, "")
    assert "the table cases has rows of its own" in err
    assert await everything(postgres_url) == before


async def test_a_database_is_not_copied_to_itself(file_url: str, tmp_path: Path) -> None:
    async with opened(file_url):
        (tmp_path / "link.db").symlink_to(tmp_path / "log.db")
    for source, target in ((file_url, f"sqlite:///{tmp_path}/link.db"), (file_url, file_url)):
        code, _, err = await copy(source, target, tmp_path)
        assert (code, err.endswith(": is the database to copy; name another one\n")) == (2, True), (
            err
        )


async def test_no_copy_while_a_bot_is_at_work(
    file_url: str, postgres_url: str, tmp_path: Path
) -> None:
    async with opened(file_url) as database:
        with owned(database):
            code, _, err = await copy(file_url, f"sqlite:///{tmp_path}/new.db", tmp_path)
        assert (code, f"(process {os.getpid()}) uses this file" in err) == (2, True)
        assert err.startswith(f"judge-bot: --from {file_url}: another")
        assert not (tmp_path / "new.db").exists()
    async with opened(postgres_url) as database:
        await Processes(database).sign(is_connected=True)
    for source, target in ((file_url, postgres_url), (postgres_url, file_url)):
        code, _, err = await copy(source, target, tmp_path)
        assert (code, f"process {os.getpid()} on " in err) == (2, True)
