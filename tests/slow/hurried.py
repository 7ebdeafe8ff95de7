"""`judge-bot serve` with its clock in a file.

The file holds the number of the clock's move and the time. After each move the periodic jobs run
once, and the process then writes CLOCK.done. Everything else is real.

Where processes are forked (tests/forked.py), it is imported before the bot. Without a file the
clock is the real one.
"""

import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import bot.domain.clock

CLOCKS: list[Path] = []


def clock_now() -> datetime:
    """The time in the file, if there is one."""
    return (
        datetime.fromtimestamp(float(CLOCKS[0].read_text().split()[1]), UTC)
        if CLOCKS
        else datetime.now(UTC)
    )


def clock_move() -> str:
    """The number of the clock's move."""
    return CLOCKS[0].read_text().split()[0]


def say_done(move: str) -> None:
    """Tells the waiting test that the periodic jobs of a move are done."""
    new = CLOCKS[0].with_suffix(".new")
    new.write_text(f"{os.getpid()} {move}")
    new.replace(CLOCKS[0].with_suffix(".done"))


bot.domain.clock.utc_now = clock_now  # before any module imports it by name

import bot.app  # noqa: E402
from bot.pipeline.engine import Engine, Work  # noqa: E402
from bot.store import Store  # noqa: E402
from bot.workspaces import Workspaces  # noqa: E402
from tests import forked  # noqa: E402


class Idle:
    """The workspaces, without their periodic jobs."""

    def __init__(self, served: Workspaces) -> None:
        self.team_ids = served.team_ids
        self.work_of = served.work_of
        self.template = Work(served.template.handlers)


class HurriedEngine(Engine):
    """Runs its periodic jobs after each move of the clock, instead of every minute."""

    def __init__(self, store: Store, served: Workspaces, *args: Any) -> None:
        super().__init__(store, Idle(served), *args)
        self._at_each_move = served.template.periodic_jobs

    async def run_forever(self) -> None:
        """Runs the engine, and the periodic jobs beside it."""
        following = asyncio.create_task(self._follow())
        try:
            await super().run_forever()
        finally:
            following.cancel()

    async def _follow(self) -> None:
        done = ""
        while True:
            move = clock_move()
            if move != done:
                for job in self._at_each_move:
                    await self._do_periodic(job.name, job.run)
                done = move
                say_done(move)
            await asyncio.sleep(0.01)


def serve(clock: str) -> None:
    """Runs the bot by the clock in this file."""
    CLOCKS.append(Path(clock))
    bot.app.Engine = HurriedEngine  # type: ignore[misc]
    forked.serve("serve")
