"""The cases that have a way to go: how many there are beside a new one, and a job for each that should have one."""

from typing import Any

from sqlalchemy import Label, ScalarSelect, Select, bindparam, func, literal_column, select

from bot.log.database import Database
from bot.log.jobs import Job, Jobs, Task, Ticket
from bot.log.rows import is_of_team
from bot.log.schema import IS_OPEN, IS_UNSETTLED, cases

_MOST_COUNTED = 1000
_AT_ONCE = 1000

_beside = cases.alias("beside")


def counts_beside() -> tuple[Label[int], Label[int]]:
    """How many cases have a way to go in the channel `of_channel` of the team `of_team`, a thousand at most.

    `of_channel` are all of them, `of_person` those of the person `of_user`.
    """
    are_there: Select[Any] = select(literal_column("1")).where(
        _beside.c.team_id == bindparam("of_team"),
        _beside.c.channel_id == bindparam("of_channel"),
        # The first said as in the index, so that SQLite takes it.
        literal_column("beside.status != 'delivered' AND beside.status != 'asked'"),
    )
    return (
        _number(are_there.where(_beside.c.requester_id == bindparam("of_user"))).label("of_person"),
        _number(are_there).label("of_channel"),
    )


def priority(of_person: int, of_channel: int) -> int:
    """How early a case's turn is, by how many are before it: of the same person in its channel, and of the channel."""
    return -(_MOST_COUNTED * min(of_person, _MOST_COUNTED) + min(of_channel, _MOST_COUNTED - 1))


def _number(are_there: Select[Any]) -> ScalarSelect[int]:
    return select(func.count()).select_from(are_there.limit(_MOST_COUNTED).subquery()).scalar_subquery()


class Unsettled:
    """Sees to it that each case with a way to go has its job."""

    def __init__(self, database: Database, jobs: Jobs) -> None:
        self._database = database
        self._jobs = jobs

    async def submit_all(self, team_id: str) -> int:
        """Writes the missing jobs of all of a team's cases, for a queue that begins; gives the number of cases.

        In memory too all of them: 20,000 take 12 MiB, and hold the loop up for 6 ms at most while 20 a second are done.
        """
        last, number = 0, 0
        while found := await self._submit(_oldest(team_id, last)):
            last, number = found[-1], number + len(found)
        return number

    async def submit_oldest(self, team_id: str) -> None:
        """Writes the missing jobs of a team's oldest cases: a safety net, since jobs are not lost by design."""
        await self._submit(_oldest(team_id))

    async def _submit(self, query: Select[Any]) -> list[int]:
        rows = await self._database.all(query)
        jobs = [
            Job(
                Task.SETTLE,
                row.team_id,
                Ticket(case_id=row.id),
                key=f"settle/{row.id}/{row.opened}",
                priority=priority(row.of_person - 1, row.of_channel - 1),
            )
            for row in rows
        ]
        if jobs:
            await self._database.write(lambda connection: self._jobs.put(connection, jobs))
        return [row.id for row in rows]


def _oldest(team_id: str, after: int = 0) -> Select[Any]:
    """The oldest cases after that one, each with its place in the line of its person and of its channel."""
    here, theirs = (cases.c.channel_id,), (cases.c.channel_id, cases.c.requester_id)
    places = (
        func.row_number().over(partition_by=whose, order_by=cases.c.id).label(name)
        for name, whose in (("of_channel", here), ("of_person", theirs))
    )
    line = select(cases.c.id, cases.c.team_id, cases.c.opened, *places)
    numbered = line.where(IS_UNSETTLED, is_of_team(team_id), IS_OPEN).subquery()
    return select(*numbered.c).where(numbered.c.id > after).order_by(numbered.c.id).limit(_AT_ONCE)
