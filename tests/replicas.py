"""What tests with several processes share: a workspace, the processes on one PostgreSQL, and its
queue's state.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import create_async_engine

from pocket_slack import Message
from tests.forked import Forked, forked
from tests.model_server import Held, ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.programs import environment, pocket_slack
from tests.stage import GOOD, Stage, is_verdict


def replica(name: str, env: dict[str, str], folder: Path) -> AbstractAsyncContextManager[Forked]:
    """A bot in its own process, with its output in a file."""
    return forked("tests.forked", "serve", env=env, output=folder / f"{name}.txt")


async def busy_processes(url: str) -> list[int]:
    """How many jobs each process has according to the queue, in ascending order."""
    picked = "SELECT count(*) FROM pgqueuer WHERE status = 'picked' GROUP BY queue_manager_id"
    return sorted(count for (count,) in await _rows(url, picked))


async def jobs(url: str) -> dict[str, int]:
    """The number of jobs in the queue by status."""
    rows = await _rows(url, "SELECT status::text, count(*) FROM pgqueuer GROUP BY status")
    return dict(map(tuple, rows))


async def left(url: str) -> int:
    """How many cases are not delivered."""
    return int(await first(url, "SELECT count(*) FROM cases WHERE delivered_at IS NULL"))


async def first(url: str, query: str) -> Any:
    """The value that a query finds."""
    return (await _rows(url, query))[0][0]


async def _rows(url: str, query: str) -> Sequence[Row[Any]]:
    engine = create_async_engine(url)
    async with engine.connect() as connection:
        rows = (await connection.execute(text(query))).all()
    await engine.dispose()
    return rows


async def processes_hold(url: str, counts: list[int]) -> None:
    """Returns once the processes have these numbers of the queue's jobs."""
    async with asyncio.timeout(ONLY_A_HANG_S):
        while await busy_processes(url) != counts:  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.05)


async def all_are_delivered(url: str) -> None:
    """Returns once the store has all cases as delivered, which follows the verdict in Slack."""
    async with asyncio.timeout(ONLY_A_HANG_S):
        while await left(url):  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.05)


PRESSED_AGAIN_S = 10.0


async def ask(stage: Stage, count: int) -> None:
    """Asks for scores of `count` replies; returns once all are accepted.

    The bot refuses a request that a busy machine would acknowledge too late; ann then asks again.
    """
    answers = [
        stage.ask_and_answer(f"Question {n}?", f"Answer {n} of {count}.")[1] for n in range(count)
    ]
    asked = {answer.ts: [stage.ann.shortcut("score_reply", answer)] for answer in answers}

    def waiting() -> list[Message]:
        return [answer for answer in answers if not any(each.is_acked for each in asked[answer.ts])]

    async with asyncio.timeout(ONLY_A_HANG_S):
        while waiting():
            with suppress(TimeoutError):
                await stage.slack.until(lambda: not waiting(), PRESSED_AGAIN_S)
            for answer in waiting():
                asked[answer.ts].append(stage.ann.shortcut("score_reply", answer))


def verdicts(stage: Stage) -> int:
    return len([message for message in stage.ours() if is_verdict(message)])


@dataclass
class Scene:
    """A workspace without a process so far, and a model that holds its answers until `gate` is set."""

    stage: Stage
    gate: asyncio.Event
    _stack: AsyncExitStack
    _env: dict[str, str]
    _folder: Path

    async def start(self, *names: str) -> list[Forked]:
        """Starts processes with these names, which end with the scene."""
        return [
            await self._stack.enter_async_context(replica(name, self._env, self._folder))
            for name in names
        ]


@asynccontextmanager
async def new_scene(model: ModelServer, database_url: str, folder: Path) -> AsyncIterator[Scene]:
    """A scene on that database; the output of its processes is in the folder, in a file for each
    name.
    """
    gate = asyncio.Event()
    model.script(Held(gate, GOOD))
    async with pocket_slack() as slack, AsyncExitStack() as stack:
        stage = Stage.beside(slack, model)
        # A process takes one case for the model and one to follow, so that they share the cases.
        more = {"DATABASE_URL": database_url, "JUDGE_CONCURRENCY": "1"}
        yield Scene(stage, gate, stack, environment(slack, model, folder) | more, folder)
