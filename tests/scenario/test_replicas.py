"""Several processes on one PostgreSQL: killed, frozen, stopped, split in two roles. Nothing is lost, nothing twice."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from sandbox import Sandbox
from tests.model_server import Held, ModelServer
from tests.scenario.conftest import GOOD, Stage, is_verdict
from tests.scenario.test_process import environment, pocket_slack, run

JUDGE_BOT = Path(sys.executable).parent / "judge-bot"
TAKEOVER_S = 30


@asynccontextmanager
async def replica(
    name: str, env: dict[str, str], folder: Path, role: str = "both"
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A bot in a process of its own; what it says goes into a file."""
    with (folder / f"{name}.txt").open("wb") as said:
        process = await asyncio.create_subprocess_exec(
            str(JUDGE_BOT), "serve", "--role", role, env=env, stdout=said, stderr=said
        )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def busy_workers(url: str) -> list[int]:
    """How many jobs each worker has, as the queue says."""
    engine = create_async_engine(url)
    query = text("SELECT count(*) FROM pgqueuer WHERE status = 'picked' GROUP BY queue_manager_id")
    async with engine.connect() as connection:
        counts = list((await connection.execute(query)).scalars())
    await engine.dispose()
    return sorted(counts)


async def jobs(url: str) -> dict[str, int]:
    """How many jobs there are, by their status in the queue."""
    engine = create_async_engine(url)
    async with engine.connect() as connection:
        rows = (await connection.execute(text("SELECT status::text, count(*) FROM pgqueuer GROUP BY status"))).all()
    await engine.dispose()
    return dict(tuple(row) for row in rows)


async def left(url: str) -> int:
    """How many cases are not delivered."""
    engine = create_async_engine(url)
    async with engine.connect() as connection:
        count = (await connection.execute(text("SELECT count(*) FROM cases WHERE delivered_at IS NULL"))).scalar_one()
    await engine.dispose()
    return int(count)


async def workers_are(url: str, counts: list[int]) -> None:
    """Returns once the queue's workers have so many jobs each."""
    async with asyncio.timeout(20):
        while await busy_workers(url) != counts:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.05)


async def all_are_delivered(url: str) -> None:
    """Returns once the log says so, which follows the verdict in Slack."""
    async with asyncio.timeout(20):
        while await left(url):  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.05)


def ask(stage: Stage, count: int) -> None:
    for number in range(count):
        _, answer = stage.ask_and_answer(f"Question {number}?", f"Answer {number} of {count}.")
        stage.ann.shortcut("score_reply", answer)


def verdicts(stage: Stage) -> int:
    return len([message for message in stage.ours() if is_verdict(message)])


def the_stage(slack: Sandbox, model: ModelServer) -> Stage:
    return Stage(slack, model, None, *(slack.person(name) for name in ("ann", "ben", "helper")))  # type: ignore[arg-type]


async def test_each_case_is_settled_once_whatever_becomes_of_the_replicas(
    model_server: ModelServer, postgres_url: str, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    model_server.script(Held(gate, GOOD))
    async with pocket_slack() as slack, AsyncExitStack() as stack:
        stage = the_stage(slack, model_server)
        # One case at the model and one behind it is all that a worker takes: so the six cases are shared.
        more = {"DATABASE_URL": postgres_url, "JUDGE_CONCURRENCY": "1"}
        env = environment(slack, model_server, tmp_path) | more
        killed, frozen, stopped = [
            await stack.enter_async_context(replica(name, env, tmp_path)) for name in ("killed", "frozen", "stopped")
        ]
        await slack.connected(3, timeout_s=30)
        ask(stage, 6)
        await workers_are(postgres_url, [2, 2, 2])
        await slack.until(lambda: len(stage.ours()) == 6)  # a placeholder each

        killed.kill()
        frozen.send_signal(signal.SIGSTOP)
        gate.set()
        await slack.until(lambda: verdicts(stage) == 6, timeout_s=TAKEOVER_S)  # the survivor's own, and the others'
        frozen.send_signal(signal.SIGCONT)  # an answer of the model is waiting for it

        gate.clear()
        ask(stage, 4)
        await workers_are(postgres_url, [2, 2])
        stopped.send_signal(signal.SIGTERM)
        gate.set()
        assert await asyncio.wait_for(stopped.wait(), 30) == 0
        await slack.until(lambda: verdicts(stage) == 10, timeout_s=30)

        frozen.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(frozen.wait(), 40) == 0
        assert len(stage.ours()) == 10
        assert "case_left_to_another" in (tmp_path / "frozen.txt").read_text()
        await all_are_delivered(postgres_url)


async def test_what_a_process_leaves_is_back_in_the_queue_when_it_has_gone(
    model_server: ModelServer, postgres_url: str, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    model_server.script(Held(gate, GOOD))
    async with pocket_slack() as slack, AsyncExitStack() as stack:
        stage = the_stage(slack, model_server)
        env = environment(slack, model_server, tmp_path) | {"DATABASE_URL": postgres_url, "JUDGE_CONCURRENCY": "1"}
        leaves, _ = [await stack.enter_async_context(replica(name, env, tmp_path)) for name in ("leaves", "stays")]
        await slack.connected(2, timeout_s=30)
        ask(stage, 4)
        await workers_are(postgres_url, [2, 2])
        leaves.send_signal(signal.SIGTERM)
        await slack.until(lambda: len(slack.sockets.open) == 1)
        leaves.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(leaves.wait(), 10) == 0
        assert await jobs(postgres_url) == {"picked": 2, "queued": 2}
        gate.set()
        await slack.until(lambda: verdicts(stage) == 4, timeout_s=30)
        assert len(stage.ours()) == 4
        await all_are_delivered(postgres_url)


async def test_fronts_answer_and_workers_settle_though_one_of_each_is_killed(
    model_server: ModelServer, postgres_url: str, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    model_server.script(Held(gate, GOOD))
    async with pocket_slack() as slack, AsyncExitStack() as stack:
        stage = the_stage(slack, model_server)
        more = {"DATABASE_URL": postgres_url, "JUDGE_CONCURRENCY": "1"}
        env = environment(slack, model_server, tmp_path) | more
        front, _ = [
            await stack.enter_async_context(replica(name, env, tmp_path, "front")) for name in ("front-1", "front-2")
        ]
        await slack.connected(2, timeout_s=30)
        ask(stage, 6)
        await slack.until(lambda: len(slack.workspace.journal.of("ack")) == 6, timeout_s=20)
        assert await left(postgres_url) == 6  # there is nobody yet to settle them
        worker, *_ = [
            await stack.enter_async_context(replica(name, env, tmp_path, "worker"))
            for name in ("worker-1", "worker-2", "worker-3")
        ]
        await workers_are(postgres_url, [2, 2, 2])
        await slack.until(lambda: len(stage.ours()) == 6)
        front.kill()
        worker.kill()
        gate.set()
        await slack.until(lambda: verdicts(stage) == 6, timeout_s=TAKEOVER_S)
        await slack.until(lambda: len(slack.sockets.open) == 1)
        ask(stage, 4)
        await slack.until(lambda: verdicts(stage) == 10, timeout_s=30)
        assert len(stage.ours()) == 10
        await all_are_delivered(postgres_url)


async def test_a_log_in_a_file_is_not_split_into_roles(model_server: ModelServer, tmp_path: Path) -> None:
    async with pocket_slack() as slack:
        env = environment(slack, model_server, tmp_path)
        code, _, err = await run("serve", env, tmp_path, "--role", "worker")
    assert code == 2
    assert "--role worker: a log in SQLite has one process for all" in err
