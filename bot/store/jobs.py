"""The jobs that the queue works through: each is written in the transaction that makes it due.

The queue is pgqueuer's. With PostgreSQL its tables are beside ours; with SQLite it is in the memory
of the one process that works, and is filled from the database at start.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    Label,
    Row,
    ScalarSelect,
    Select,
    bindparam,
    func,
    literal_column,
    select,
    text,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import LoggedCase
from bot.store.database import Database
from bot.store.schema import IS_OPEN, IS_UNSETTLED, cases
from bot.store.tables import Condition
from bot.store.writer import after_commit

if TYPE_CHECKING:
    # Imported only where needed: most commands write no jobs, and it would be at least a sixth of
    # their start-up time.
    from pgqueuer.adapters.inmemory import InMemoryQueries
    from pgqueuer.adapters.persistence.queries import Queries


class JobKind(StrEnum):
    """What the base's jobs do with their case; features have kinds of their own.

    `SETTLE` settles it. `AMEND` updates its verdict in Slack after its message has changed.
    """

    SETTLE = "settle"
    AMEND = "amend"


@dataclass(frozen=True)
class Job:
    """One thing to do for one case; `case_id` is the number of something else if the kind is not
    about a case.

    `trigger_id` is Slack's key for opening a modal, valid for 3 s. A job is not written while there
    is another with the same `key`; without a key it is always written. Of all jobs that are due,
    those with the highest `priority` come first. A job from the queue has neither.
    """

    kind: str
    team_id: str
    case_id: int
    trigger_id: str | None = None
    key: str | None = None
    priority: int = 0


async def put_jobs(database: Database, connection: AsyncConnection, jobs: Sequence[Job]) -> None:
    """Writes these jobs, in the transaction of that connection, or into memory right after it.

    With SQLite, a process that settles no cases, such as `judge-bot purge`, writes nothing: the
    next start of the app finds everything that is unsettled.
    """
    if not database.is_sqlite:
        await _enqueue(await database_queue(connection), jobs)
    elif database.queue is not None:
        after_commit(connection, partial(_enqueue, database.queue, jobs))


async def submit_jobs(database: Database, jobs: Sequence[Job]) -> None:
    """Writes jobs that may be missing, in a transaction of their own; those with a key are not
    written twice.
    """
    if jobs:
        await database.write(lambda connection: put_jobs(database, connection, jobs))


async def trim_queue(database: Database) -> None:
    """Deletes what the queue has recorded of finished jobs: after a week, or in memory at once."""
    if database.queue is not None:
        await database.queue.clear_queue_log()
        await database.queue.clear_statistics_log()
    elif not database.is_sqlite:
        await database.write(_forget_old_notes)


async def _enqueue(queue: "Queries | InMemoryQueries", jobs: Sequence[Job]) -> None:
    payloads: list[bytes | None] = []
    for job in jobs:
        about = {"team_id": job.team_id, "case_id": job.case_id, "trigger_id": job.trigger_id}
        payloads.append(json.dumps(about).encode())
    await queue.enqueue(
        [job.kind for job in jobs],
        payloads,
        [job.priority for job in jobs],
        dedupe_key=[job.key for job in jobs],
        on_conflict="skip",
    )


async def _forget_old_notes(connection: AsyncConnection) -> None:
    from pgqueuer.domain.settings import db_settings

    names = db_settings().qualified
    for table in (names.queue_table_log, names.statistics_table):
        # The names are pgqueuer's own, with no word of a user in them.
        statement = f"DELETE FROM {table} WHERE created < now() - interval '7 days'"  # noqa: S608
        await connection.execute(text(statement))


async def database_queue(connection: AsyncConnection) -> "Queries":
    from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
    from pgqueuer.adapters.persistence.queries import Queries

    driver_connection: Any = (await connection.get_raw_connection()).driver_connection
    return Queries(AsyncpgDriver(driver_connection))


_MOST_COUNTED = 1000
_AT_ONCE = 1000

_beside = cases.alias("beside")


def counts_beside() -> tuple[Label[int], Label[int], Label[int]]:
    """How many cases are still to be settled in the team `of_team`, at most 1000.

    The column `of_workspace` counts all of them, `of_channel` those of its channel `of_channel`,
    and `of_person` of these those of the person `of_user`.
    """
    of_team: Select[Any] = select(literal_column("1")).where(
        _beside.c.team_id == bindparam("of_team"),
        # The first condition is written as in the index, so that SQLite uses it.
        literal_column("beside.status != 'delivered' AND beside.status != 'asked'"),
    )
    are_there = of_team.where(_beside.c.channel_id == bindparam("of_channel"))
    return (
        _number(are_there.where(_beside.c.requester_id == bindparam("of_user"))).label("of_person"),
        _number(are_there).label("of_channel"),
        _number(of_team).label("of_workspace"),
    )


def priority(of_person: int, of_channel: int, of_workspace: int) -> int:
    """The priority of a case by how many are before it: of its person in its channel, of its
    channel, its workspace.

    Those of the workspace count in hundreds: with fewer, those with equally many before them go in
    their order.
    """
    person = min(of_person, _MOST_COUNTED)
    channel = min(of_channel, _MOST_COUNTED - 1)
    workspace = min(of_workspace // 100, 9)
    return -(10 * (_MOST_COUNTED * person + channel) + workspace)


def settling(case: LoggedCase | Row[Any], trigger_id: str | None = None, priority: int = 0) -> Job:
    key = f"settle/{case.id}/{case.opened}"
    return Job(JobKind.SETTLE, case.team_id, case.id, trigger_id, key=key, priority=priority)


def amending(
    team_id: str, case_ids: Iterable[int], priority: int = 0, *, is_once: bool = False
) -> Sequence[Job]:
    """A job for each of these cases, whose verdict in Slack is out of date; with `is_once`, only
    where none is waiting.
    """
    keys = {case_id: f"amend/{case_id}" if is_once else None for case_id in case_ids}
    return [
        Job(JobKind.AMEND, team_id, case_id, key=key, priority=priority)
        for case_id, key in keys.items()
    ]


def _number(are_there: Select[Any]) -> ScalarSelect[int]:
    return (
        select(func.count())
        .select_from(are_there.limit(_MOST_COUNTED).subquery())
        .scalar_subquery()
    )


async def submit_all(database: Database, team_id: str) -> int:
    """Writes the missing jobs of all of a team's cases, for a queue that starts; returns the number
    of cases.

    A queue in memory gets all of them, too: 20,000 take 12 MiB, and block the loop for at most 6 ms
    while 20 a second are done.
    """
    last = 0
    number = 0
    while found := await submit_oldest(database, team_id, last):
        last = found[-1]
        number += len(found)
    return number


async def submit_oldest(database: Database, team_id: str, after: int = 0) -> Sequence[int]:
    """Writes the missing jobs of a team's oldest cases: a safety net, because jobs are not lost by
    design.

    Returns the numbers of these cases, all above `after`.
    """
    rows = await database.all(_oldest(team_id, after))
    jobs = []
    for row in rows:
        before = (row.of_person - 1, row.of_channel - 1, row.of_workspace - 1)
        jobs.append(settling(row, priority=priority(*before)))
    await submit_jobs(database, jobs)
    return [row.id for row in rows]


def _oldest(team_id: str, after: int) -> Select[Any]:
    """The oldest cases after that one, each with its position among its person's, its channel's and
    the team's.
    """
    here = (cases.c.channel_id,)
    theirs = (cases.c.channel_id, cases.c.requester_id)
    places = (
        func.row_number().over(partition_by=whose, order_by=cases.c.id).label(name)
        for name, whose in (("of_workspace", ()), ("of_channel", here), ("of_person", theirs))
    )
    line = select(cases.c.id, cases.c.team_id, cases.c.opened, *places)
    numbered = line.where(IS_UNSETTLED, is_of_team(team_id), IS_OPEN).subquery()
    return select(*numbered.c).where(numbered.c.id > after).order_by(numbered.c.id).limit(_AT_ONCE)


def is_of_team(team_id: str) -> Condition:
    """Whether a case is a team's; written so that SQLite uses the small index of another condition
    instead.
    """
    return cases.c.team_id + "" == team_id
