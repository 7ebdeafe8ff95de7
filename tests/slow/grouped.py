"""Adds cases, twenty at a time, and prints each key that is accepted; it may kill itself within a
commit of them.

`python -m tests.slow.grouped DATABASE_URL [before|within|after]`: at the tenth case of the second
group, right before its commit, or right after it, before anyone is told. Without a point it goes on
until it is killed.
"""

import asyncio
import os
import signal
import sys
from functools import partial
from itertools import count
from typing import Any

from sqlalchemy import event

from bot.store import Store
from tests.cases import a_case

AT_ONCE = 20


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_at_the_tenth(begun: list[str], *call: Any) -> None:
    if call[2].startswith("INSERT INTO cases "):
        begun.append(call[2])
    if len(begun) == 10:
        die()


class DeadlyQueue:
    """Gets its first job right after the commit, before anyone is told."""

    async def enqueue(self, *_: object, **__: object) -> None:
        die()


async def main(url: str, point: str = "") -> None:
    """Adds groups until it is killed."""
    log = await Store.open(url)

    async def add(key: str) -> None:
        await log.add(a_case(key=key))
        os.write(1, f"{key}\n".encode())

    engine = log.database.engine.sync_engine
    for group in count():
        keys = [str(group * AT_ONCE + number) for number in range(AT_ONCE)]
        if group == 1 and point == "within":
            event.listen(engine, "commit", die)
        if group == 1 and point == "before":
            event.listen(engine, "before_cursor_execute", partial(die_at_the_tenth, []))
        if group == 1 and point == "after":
            log.database.queue = DeadlyQueue()  # type: ignore[assignment]
        await asyncio.gather(*map(add, keys))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
