"""Three processes on one PostgreSQL: one is killed, one freezes and wakes up, one is stopped. Nothing is lost."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from tests.model_server import Held, ModelServer
from tests.scenario.conftest import GOOD, Stage, is_verdict
from tests.scenario.test_process import environment, pocket_slack

JUDGE_BOT = Path(sys.executable).parent / "judge-bot"
TAKEOVER_S = 45


@asynccontextmanager
async def replica(name: str, env: dict[str, str], folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """A bot in a process of its own; what it says goes into a file."""
    with (folder / f"{name}.txt").open("wb") as said:
        process = await asyncio.create_subprocess_exec(str(JUDGE_BOT), "serve", env=env, stdout=said, stderr=said)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def holders(url: str) -> dict[str, int]:
    """How many unsettled cases each process holds."""
    engine = create_async_engine(url)
    query = text("SELECT holder, count(*) FROM cases WHERE delivered_at IS NULL GROUP BY holder")
    async with engine.connect() as connection:
        rows = (await connection.execute(query)).all()
    await engine.dispose()
    return {row[0]: row[1] for row in rows}


def ask(stage: Stage, count: int) -> None:
    for number in range(count):
        _, answer = stage.ask_and_answer(f"Question {number}?", f"Answer {number} of {count}.")
        stage.ann.shortcut("score_reply", answer)


async def test_each_case_is_settled_once_whatever_becomes_of_the_replicas(
    model_server: ModelServer, postgres_url: str, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    model_server.script(Held(gate, GOOD))
    async with pocket_slack() as slack, AsyncExitStack() as stack:
        stage = Stage(slack, model_server, None, *(slack.person(n) for n in ("ann", "ben", "helper")))  # type: ignore[arg-type]
        env = environment(slack, model_server, tmp_path) | {"DATABASE_URL": postgres_url}
        killed, frozen, stopped = [
            await stack.enter_async_context(replica(name, env, tmp_path)) for name in ("killed", "frozen", "stopped")
        ]
        await slack.connected(3, timeout_s=30)
        ask(stage, 6)
        await model_server.asked(6)
        assert sorted((await holders(postgres_url)).values()) == [2, 2, 2]

        killed.kill()
        frozen.send_signal(signal.SIGSTOP)
        async with asyncio.timeout(TAKEOVER_S):
            await model_server.asked(6 + 4)  # the survivor asks for the cases of the other two
        gate.set()
        await slack.until(lambda: len([m for m in stage.ours() if is_verdict(m)]) == 6, timeout_s=30)

        frozen.send_signal(signal.SIGCONT)  # two answers of the model are waiting for it
        gate.clear()
        ask(stage, 4)
        await model_server.asked(6 + 4 + 4)
        stopped.send_signal(signal.SIGTERM)
        gate.set()
        assert await asyncio.wait_for(stopped.wait(), 30) == 0
        await slack.until(lambda: len([m for m in stage.ours() if is_verdict(m)]) == 10, timeout_s=30)

        frozen.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(frozen.wait(), 40) == 0
        assert len(stage.ours()) == 10
        assert "silent_for_too_long" in (tmp_path / "frozen.txt").read_text()
    assert await holders(postgres_url) == {}
