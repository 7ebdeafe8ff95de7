"""The jobs that the engine works through: each is written in the transaction that makes it due.

The queue is pgqueuer's: its tables in PostgreSQL, beside ours; with SQLite a queue in the memory of the one process
that works, filled from the log when it starts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.log.database import Database, after_commit

if TYPE_CHECKING:
    # Imported where it is needed: most commands write no jobs, and it takes a sixth of their start.
    from pgqueuer.adapters.inmemory import InMemoryQueries
    from pgqueuer.adapters.persistence.queries import Queries


class Task(StrEnum):
    """What a job does with its case: bring it to its end, have its verdict say what became of the message, or tell
    the steps of workflows that wait for it.

    That of a replay judges labelled cases anew; its number stands in the place of a case's.
    """

    SETTLE = "settle"
    AMEND = "amend"
    COMPLETE = "complete"
    REPLAY = "replay"


class Ticket(BaseModel):
    """What a job carries: whose turn it is, and what can open a window for the person who asked (Slack's, for 3 s)."""

    case_id: int
    trigger_id: str | None = None


@dataclass(frozen=True)
class Job:
    """One thing to do for one case.

    `key` keeps a second job like it from being written while the first is there; None: it is always written.
    Of all jobs that are due, those with the highest `priority` come first.
    """

    task: Task
    team_id: str
    ticket: Ticket
    key: str | None = None
    priority: int = 0


def entrypoint(task: Task, team_id: str) -> str:
    """The queue's name for a task of one team: several apps may share a database, and each does its own team's."""
    return f"{task}:{team_id}"


class Jobs:
    """Writes jobs. `memory` is the queue of this process, if it has one; else they go into the database's."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.memory: InMemoryQueries | None = None

    async def put(self, connection: AsyncConnection, jobs: Sequence[Job]) -> None:
        """Writes these jobs, in the transaction of that connection; in memory, right after it.

        With SQLite, where nobody works in this process, as in `judge-bot purge`, nothing is written: the next start of
        the app finds all that is unsettled.
        """
        if not self._database.is_sqlite:
            await _enqueue(await database_queue(connection), jobs)
        elif self.memory is not None:
            after_commit(connection, partial(_enqueue, self.memory, jobs))

    async def trim(self) -> None:
        """Forgets what the queue has noted of jobs that are done: after a week; in memory, at once."""
        if self.memory is not None:
            await self.memory.clear_queue_log()
            await self.memory.clear_statistics_log()
        elif not self._database.is_sqlite:
            await self._database.write(_forget_old_notes)


async def _enqueue(queue: "Queries | InMemoryQueries", jobs: Sequence[Job]) -> None:
    await queue.enqueue(
        [entrypoint(job.task, job.team_id) for job in jobs],
        [job.ticket.model_dump_json(exclude_none=True).encode() for job in jobs],
        [job.priority for job in jobs],
        dedupe_key=[job.key for job in jobs],
        on_conflict="skip",
    )


async def _forget_old_notes(connection: AsyncConnection) -> None:
    from pgqueuer.domain.settings import db_settings

    names = db_settings().qualified
    for table in (names.queue_table_log, names.statistics_table):
        await connection.execute(text(f"DELETE FROM {table} WHERE created < now() - interval '7 days'"))  # noqa: S608


async def database_queue(connection: AsyncConnection) -> "Queries":
    """pgqueuer's queries over a connection to PostgreSQL, in whatever transaction it is in."""
    from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
    from pgqueuer.adapters.persistence.queries import Queries

    driver_connection: Any = (await connection.get_raw_connection()).driver_connection
    return Queries(AsyncpgDriver(driver_connection))
