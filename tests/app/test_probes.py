"""What `/healthz`, `/readyz` and `/metrics` answer where something is not well."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.probes import Probes
from bot.store import Store
from bot.store.cases import Cases
from bot.store.database import Database
from bot.store.opening import connect as connect_database
from tests.streams import connect, heard


async def status_of(probes: Probes, path: str, method: str = "GET") -> int:
    said = await heard(
        await connect(probes.server, f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    )
    return int(said.split()[1])


async def yes() -> bool:
    return True


async def no() -> bool:
    return False


@pytest.mark.parametrize(("signs", "status"), [([], 200), ([yes, yes], 200), ([yes, no], 503), ([no, yes], 503)])
async def test_ready_is_where_the_log_answers_and_all_is_well(
    tmp_path: Path, signs: Sequence[object], status: int
) -> None:
    store = await Store.open(f"sqlite+aiosqlite:///{tmp_path}/log.db")
    probes = Probes("127.0.0.1", 0, store.cases, signs)  # type: ignore[arg-type]
    async with probes.server:
        assert await status_of(probes, "/readyz") == status
        assert await status_of(probes, "/healthz") == 200
        assert await status_of(probes, "/metrics") == 200
        assert await status_of(probes, "/metrics", "HEAD") == 200
        assert await status_of(probes, "/metrics", "POST") == 404
        assert await status_of(probes, "/slack/events") == 404
    await store.close()


async def test_without_the_log_the_process_is_alive_but_not_ready(tmp_path: Path) -> None:
    database = Database(connect_database(f"sqlite+aiosqlite:///{tmp_path}/empty.db"))
    probes = Probes("127.0.0.1", 0, Cases(database), [yes])
    async with probes.server:
        assert await status_of(probes, "/healthz") == 200
        assert await status_of(probes, "/readyz") == 503
        assert await status_of(probes, "/metrics") == 503
    await database.close()
