"""Signs of life: each process says every few seconds that it is at work, for `judge-bot health` to read."""

import asyncio
import os
import socket
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from sqlalchemy import delete, select

from bot.domain.clock import utc_now
from bot.log.database import Database
from bot.log.schema import processes
from bot.log.upserts import upsert

SILENT_S = 20.0
"""Who has given no sign for so long is taken to be gone, or stuck."""
_FORGOTTEN = timedelta(days=1)
_PATIENCE_S = 3.0

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Sign:
    """The last sign of life of a process, and whether Slack could reach it then."""

    pid: int
    is_connected: bool
    seen_at: datetime


class Processes:
    """Writes and reads signs of life."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._name = uuid.uuid4().hex
        self._started_at = utc_now()

    async def sign(self, *, is_connected: bool) -> None:
        """Says that this process is alive, and whether Slack can reach it."""
        values = {
            "id": self._name,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "is_connected": is_connected,
            "started_at": self._started_at,
            "seen_at": utc_now(),
        }
        await self._database.execute(upsert(self._database, processes, values))

    async def leave(self) -> None:
        """Takes this process off the list, and those that were killed long ago; where the log answers soon."""
        is_over = processes.c.seen_at < utc_now() - _FORGOTTEN
        statement = delete(processes).where((processes.c.id == self._name) | is_over)
        signing_off = asyncio.ensure_future(self._database.execute(statement))
        await asyncio.wait([signing_off], timeout=_PATIENCE_S)
        if not signing_off.done() or signing_off.exception():
            logger.warning("not_signed_off", left="it is forgotten in a day")

    async def latest_here(self) -> Sign | None:
        """The newest sign of life of a process of this machine."""
        of_process = select(processes.c.pid, processes.c.is_connected, processes.c.seen_at)
        here = of_process.where(processes.c.host == socket.gethostname()).order_by(processes.c.seen_at.desc())
        found = await self._database.rows(Sign, here.limit(1))
        return found[0] if found else None
