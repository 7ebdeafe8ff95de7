"""`judge-bot serve` with its clock in a file: `python -m tests.slow.hurried CLOCK [POINT]`.

The file holds the number of the clock's move and the time. After each move the periodic jobs run once, and the process
then writes CLOCK.done. With a point, the process kills itself there (see doomed.py). Everything else is real.
"""

import asyncio
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import bot.domain.clock

CLOCK = Path(sys.argv[1])
DONE = CLOCK.with_suffix(".done")


def clock_now() -> datetime:
    """The time in the file."""
    return datetime.fromtimestamp(float(CLOCK.read_text().split()[1]), UTC)


def clock_move() -> str:
    """The number of the clock's move."""
    return CLOCK.read_text().split()[0]


def say_done(move: str) -> None:
    """Tells the waiting test that the periodic jobs of a move are done."""
    new = DONE.with_suffix(".new")
    new.write_text(f"{os.getpid()} {move}")
    new.replace(DONE)


bot.domain.clock.utc_now = clock_now  # before any module imports it by name

import bot.app  # noqa: E402
from bot.cli import main  # noqa: E402
from bot.pipeline.engine import Engine, PeriodicJob  # noqa: E402
from tests.slow.doomed import doom  # noqa: E402
from tests.slow.points import Point  # noqa: E402


class HurriedEngine(Engine):
    """Runs its periodic jobs after each move of the clock, instead of every minute."""

    def __init__(self, *args: Any, periodic_jobs: list[PeriodicJob], **kwargs: Any) -> None:
        super().__init__(*args, periodic_jobs=[], **kwargs)
        self._at_each_move = periodic_jobs

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
                    await self._do_periodic(job)
                done = move
                say_done(move)
            await asyncio.sleep(0.01)


if __name__ == "__main__":
    bot.app.Engine = HurriedEngine  # type: ignore[misc]
    for name in sys.argv[2:]:
        doom(Point.parse(name))
    sys.argv = ["judge-bot", "serve"]
    main()
