"""Which processes are at work on the log: each says so every few seconds, and what a silent one held is free."""

import os
import socket
import time
import uuid
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.log.schema import cases, processes
from bot.log.whole import whole

LEASE_S = 20.0
_FORGOTTEN = timedelta(days=1)
_STARTED_AT = datetime.now(UTC)


class LapsedError(Exception):
    """This process was silent for so long that others may have taken its cases over."""


class Presence:
    """This process among all that share the log.

    After a silence (a frozen machine, a database out of reach) a process comes back under another name: whatever it
    still does under the old one is refused by the log, so that a case that was taken over is not settled twice.

    Args:
        writing: Opens a transaction in the log.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        writing: Callable[[], AbstractAsyncContextManager[AsyncConnection]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._writing = writing
        self._clock = clock
        self._seen_at_s = clock()
        self.name = uuid.uuid4().hex

    @whole
    async def enter(self) -> None:
        """Begins under a new name; what dead processes of this machine held is free at once."""
        self.name, now, began_s = uuid.uuid4().hex, datetime.now(UTC), self._clock()
        me = {"id": self.name, "host": socket.gethostname(), "pid": os.getpid(), "is_connected": False}
        async with self._writing() as connection:
            rows = (await connection.execute(select(processes))).all()
            dead = [row.id for row in rows if _is_dead(row)]
            await connection.execute(delete(processes).where(processes.c.id.in_(dead)))
            await connection.execute(insert(processes).values(me | {"started_at": now, "seen_at": now}))
        self._seen_at_s = began_s

    @whole
    async def beat(self, *, is_connected: bool) -> None:
        """Says that this process is alive, and whether Slack can reach it.

        Raises:
            LapsedError: It comes too late; `enter` begins anew.
        """
        self.check()
        began_s = self._clock()
        values = {"seen_at": datetime.now(UTC), "is_connected": is_connected}
        async with self._writing() as connection:
            done = await connection.execute(update(processes).where(processes.c.id == self.name).values(values))
        if not done.rowcount:
            raise LapsedError
        self._seen_at_s = began_s

    def check(self) -> None:
        """Before every step that others can see.

        Raises:
            LapsedError: The last sign of life is too old.
        """
        if self._clock() - self._seen_at_s > LEASE_S:
            raise LapsedError

    @whole
    async def leave(self) -> None:
        """Gives back what is held, so that others need not wait."""
        async with self._writing() as connection:
            await connection.execute(delete(processes).where(processes.c.id == self.name))

    def may_take(self) -> ColumnElement[bool]:
        """Of a case: held by nobody, by us, or by a process that has fallen silent."""
        alive = select(processes.c.id).where(processes.c.seen_at > datetime.now(UTC) - timedelta(seconds=LEASE_S))
        return or_(cases.c.holder.is_(None), cases.c.holder == self.name, cases.c.holder.not_in(alive))


def _is_dead(row: Row[Any]) -> bool:
    if row.host != socket.gethostname():
        return bool(row.seen_at < _STARTED_AT - _FORGOTTEN)
    is_earlier = row.pid == os.getpid() and row.started_at < _STARTED_AT  # of a container that was started again
    return is_earlier or not _is_running(row.pid)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
