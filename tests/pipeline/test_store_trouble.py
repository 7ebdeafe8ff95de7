"""The store under pressure: another program holds it, the disk fills up, a migration is killed."""

import asyncio
import os
import resource
import signal
import sqlite3
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import make_url

from bot.store import Store
from bot.store.errors import NoAnswerError
from bot.store.opening import MIGRATION_LOCK, QUERY_TIMEOUT_S, connect
from pocket_slack import Limits
from tests.cases import a_case, url
from tests.model_server import ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.programs import JUDGE_BOT, environment, pocket_slack
from tests.stage import CHANNEL, GOOD, Stage, is_verdict

pytestmark = pytest.mark.slow


def is_sound(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as log:
        return bool(log.execute("PRAGMA integrity_check").fetchone() == ("ok",))


async def test_a_full_disk_loses_nothing_and_the_bot_goes_on_when_there_is_space(
    model_server: ModelServer, tmp_path: Path
) -> None:
    """The disk is a limit on how far the process may write a file, which ends in the same error."""
    model_server.script(GOOD)
    async with pocket_slack(limits=Limits.off()) as slack:  # Slack says that nothing came after 3 s
        stage = Stage(
            slack, model_server, None, *(slack.person(n) for n in ("ann", "ben", "helper"))
        )
        env = environment(slack, model_server, tmp_path)
        process = await asyncio.create_subprocess_exec(
            str(JUDGE_BOT), "serve", env=env, stderr=DEVNULL, stdout=DEVNULL
        )
        try:
            await slack.connected(timeout_s=ONLY_A_HANG_S)
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
            refused = stage.ann.command(CHANNEL, "/judge", "Is there space? | There is none.")
            await slack.until(lambda: refused.is_over)
            assert refused.failure is not None
            resource.prlimit(
                process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            )
            stage.ann.command(CHANNEL, "/judge", "And now? | Now there is.")
            await slack.until(lambda: any(is_verdict(message) for message in stage.ours()))
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0
        finally:
            if process.returncode is None:
                os.kill(process.pid, signal.SIGKILL)
    assert is_sound(tmp_path / "log.db")
    with closing(sqlite3.connect(tmp_path / "log.db")) as log:
        assert log.execute("SELECT question FROM cases").fetchall() == [("And now?",)]


class Wire:
    """What lies between us and a database, and may swallow what is sent over it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._lines: list[asyncio.Event] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        is_dead = asyncio.Event()
        self._lines.append(is_dead)
        for source, sink in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.create_task(self._carry(source, sink, is_dead))
            self._tasks.add(task)

    def swallow(self) -> None:
        """From now on nothing gets through on the connections that are there; new ones are well."""
        for line in self._lines:
            line.set()

    async def ended(self) -> None:
        """When both sides have closed each connection."""
        await asyncio.gather(*self._tasks)

    async def _carry(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, is_dead: asyncio.Event
    ) -> None:
        with closing(sink):
            while data := await source.read(65536):
                if not is_dead.is_set():
                    sink.write(data)
        await sink.wait_closed()


async def test_a_database_that_falls_silent_is_asked_on_a_new_connection(postgres_url: str) -> None:
    address = make_url(postgres_url)
    wire = Wire(address.port or 5432)
    async with await asyncio.start_server(wire.connect, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        log = await Store.open(address.set(port=port).render_as_string(hide_password=False))
        await log.add(a_case())
        wire.swallow()
        with pytest.raises(NoAnswerError):
            await log.cases.counts()
        async with asyncio.timeout(ONLY_A_HANG_S):
            assert await log.cases.counts() == {"received": 1}
        await log.close()
        await wire.ended()


async def test_a_replica_waits_for_the_migration_of_another_however_long_it_takes(
    postgres_url: str,
) -> None:
    engine = connect(postgres_url)
    async with engine.begin() as another:
        await another.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
        opening = asyncio.create_task(Store.open(postgres_url))
        done, _ = await asyncio.wait([opening], timeout=QUERY_TIMEOUT_S + 1)
        assert not done
    log = await opening
    assert await log.cases.counts() == {}
    await log.close()
    await engine.dispose()


async def test_a_file_that_another_program_holds_is_said_to_be_waited_for_and_not_in_the_output(
    tmp_path: Path,
) -> None:
    await (await Store.open(url(tmp_path))).close()
    env = {"PATH": os.environ["PATH"], "DATABASE_URL": url(tmp_path)}
    with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        process = await asyncio.create_subprocess_exec(
            str(JUDGE_BOT), "export", env=env, stdout=PIPE, stderr=PIPE
        )
        said = (await process.stderr.readline()).decode()
        other.execute("COMMIT")
    out, err = await process.communicate()
    assert "waiting_for_the_database" in said
    assert f"end what writes to {tmp_path}/log.db" in said
    assert (process.returncode, out, err.splitlines()[0]) == (0, b"", b"0 labels written")
