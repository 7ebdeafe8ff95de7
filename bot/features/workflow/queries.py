"""Runs of the workflow step: which case each waits for, and whether it was told the result."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import LoggedCase
from bot.domain.clock import utc_now
from bot.store.database import StoreQueries, columns_of, in_transaction, insert_new
from bot.store.jobs import Job, put_jobs, submit_jobs
from bot.store.schema import IS_OPEN, IS_WAITING, cases, executions

COMPLETE = "complete"
"""The kind of the job that tells the steps that wait for a case."""


@dataclass(frozen=True)
class Execution:
    """One run of the step, under the id that Slack gave it; it waits until it is completed or
    failed.

    `quotes` is whether its workflow may be told the justification, which quotes the reply: a
    workflow passes on what it is told to the people it was built for.
    """

    id: str
    quotes: bool


class Executions(StoreQueries):
    """What workflow steps wait for.

    The rows outlive their cases, so that a step is told if its case was forgotten.
    """

    async def is_known(self, team_id: str, execution_id: str) -> bool:
        """Whether an execution has a case already, so that Slack is reporting it once more."""
        query = select(executions.c.id).filter_by(team_id=team_id, id=execution_id)
        return await self._database.value(query) is not None

    async def add(
        self, connection: AsyncConnection, case: LoggedCase, execution: Execution
    ) -> None:
        values = {
            "team_id": case.team_id,
            "id": execution.id,
            "case_id": case.id,
            "quotes": execution.quotes,
        }
        await connection.execute(insert_new(self._database, executions, values))

    @in_transaction
    async def attach(
        self, connection: AsyncConnection, execution: Execution, case: LoggedCase
    ) -> None:
        await self.add(connection, case, execution)
        # Without a key: a job like it may already have read the list of those that wait.
        await put_jobs(self._database, connection, [Job(COMPLETE, case.team_id, case.id)])

    async def waiting(self, case_id: int) -> Sequence[Execution]:
        query = (
            select(*columns_of(executions, Execution)).filter_by(case_id=case_id).where(IS_WAITING)
        )
        return await self._database.rows(Execution, query)

    async def note_completed(self, case_id: int, execution_id: str) -> None:
        its = update(executions).filter_by(case_id=case_id, id=execution_id)
        await self._database.execute(its.values(completed_at=utc_now()))

    async def resubmit(self, team_id: str) -> None:
        """Writes the missing jobs of a team, which a process that died, or a queue in memory, has
        lost.

        Executions of open cases need none, because the attempt that settles a case tells its
        executions.
        """
        is_open = select(cases.c.id).where(cases.c.id == executions.c.case_id, IS_OPEN).exists()
        query = (
            select(executions.c.case_id)
            .filter_by(team_id=team_id)
            .where(IS_WAITING, ~is_open)
            .distinct()
        )
        waited_for = await self._database.values(query.limit(1000))
        await submit_jobs(
            self._database,
            [Job(COMPLETE, team_id, each, key=f"complete/{each}") for each in waited_for],
        )
