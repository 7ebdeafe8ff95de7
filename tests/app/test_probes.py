"""What `/healthz`, `/readyz` and `/metrics` answer when all is well and when something fails."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.http_server import HttpServer
from bot.probes import probes
from bot.store import Store
from bot.store.cases import Cases
from bot.store.database import Database
from bot.store.errors import STORE_ERRORS
from bot.store.opening import connect as connect_database
from bot.store.ownership import SILENT_S, Processes
from tests.streams import connect, heard


async def status_of(server: HttpServer, path: str) -> int:
    said = await heard(
        await connect(
            server, f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
        )
    )
    return int(said.split()[1])


async def yes() -> bool:
    return True


async def no() -> bool:
    return False


@pytest.mark.parametrize(("signs", "status"), [([yes, yes], 200), ([yes, no], 503)])
async def test_a_process_is_ready_if_the_log_answers_and_all_signs_are_good(
    tmp_path: Path, signs: Sequence[object], status: int
) -> None:
    store = await Store.open(f"sqlite+aiosqlite:///{tmp_path}/log.db")
    server = probes("127.0.0.1", 0, store.cases, signs)
    async with server:
        assert await status_of(server, "/readyz") == status
        assert await status_of(server, "/healthz") == 200
        assert await status_of(server, "/metrics") == 200
        assert await status_of(server, "/slack/events") == 404
    await store.close()


async def test_a_process_that_cannot_write_to_the_log_stops_being_ready(tmp_path: Path) -> None:
    store = await Store.open(f"sqlite+aiosqlite:///{tmp_path}/log.db")
    now_s = 0.0
    processes = Processes(store.database, lambda: now_s)
    assert not await processes.has_signed()
    await processes.sign(is_connected=True)
    # As with a full disk, the store can only be read.
    await store.database.write(
        lambda connection: connection.exec_driver_sql("PRAGMA query_only = ON")
    )
    for now_s in (SILENT_S - 1, SILENT_S):
        with pytest.raises(STORE_ERRORS):
            await processes.sign(is_connected=True)
        assert await processes.has_signed() is (now_s < SILENT_S)
    await store.close()


async def test_without_the_log_the_process_is_alive_but_not_ready(tmp_path: Path) -> None:
    database = Database(connect_database(f"sqlite+aiosqlite:///{tmp_path}/empty.db"))
    server = probes("127.0.0.1", 0, Cases(database), [yes])
    async with server:
        assert await status_of(server, "/healthz") == 200
        assert await status_of(server, "/readyz") == 503
        assert await status_of(server, "/metrics") == 503
    await database.close()
