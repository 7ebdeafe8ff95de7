"""Reading cases and their verdicts."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, and_, bindparam, func, null, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import Case, CaseStatus, LoggedCase, Standing
from bot.domain.verdict import RecordedRating, RecordedVerdict
from bot.log.database import Database
from bot.log.rows import to_case
from bot.log.schema import IS_UNSETTLED, cases, processes, ratings
from bot.log.visibility import counts, same_reply

# Built once: SQLAlchemy takes longer to build it than SQLite to do it.
_BY_ID = select(cases).where(cases.c.id == bindparam("case_id"))
_RATINGS = (
    select(ratings)
    .where(ratings.c.team_id == bindparam("team_id"), ratings.c.case_id == bindparam("case_id"))
    .order_by(ratings.c.position)
)


class Cases:
    """Reads cases; what changes them is the `Store`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, case_id: int) -> LoggedCase | None:
        """The case with this number, if there is one."""
        row = await self._database.one(_BY_ID, {"case_id": case_id})
        return to_case(row) if row else None

    async def find(self, team_id: str, case_id: int) -> LoggedCase | None:
        """A team's case with this number, if there is one."""
        case = await self.get(case_id)
        return case if case and case.team_id == team_id else None

    async def latest(self, case: Case) -> LoggedCase | None:
        """The newest case about the same message that the same person may see."""
        is_shown = and_(counts(cases), cases.c.status != CaseStatus.ASKED)
        query = (
            select(cases)
            .where(
                cases.c.team_id == case.team_id,
                cases.c.channel_id == case.channel_id,
                cases.c.message_ts == case.message_ts,
                or_(is_shown, cases.c.requester_id == case.requester_id),
            )
            .order_by(cases.c.id.desc())
            .limit(1)
        )
        row = await self._database.one(query)
        return to_case(row) if row else None

    async def standing(self, case: LoggedCase) -> Standing | None:
        """What counts so far for the reply that a case is about; None while nothing does."""
        query = select(cases.c.requester_id, cases.c.score).where(same_reply(case), counts(cases)).order_by(cases.c.id)
        rows = await self._database.all(query)
        return Standing(rows[0].requester_id, any(row.score is not None for row in rows)) if rows else None

    async def replaced_by(self, case: LoggedCase) -> Sequence[LoggedCase]:
        """The cases with a verdict in the thread that this one's takes the place of, where it counts itself."""
        if case.attempt == 1 or case.aside or case.is_for_one:
            return []
        is_earlier = and_(cases.c.id < case.id, cases.c.reply_ts.is_not(None), cases.c.judged_at.is_not(None))
        rows = await self._database.all(select(cases).where(same_reply(case), counts(cases), is_earlier))
        return [to_case(row) for row in rows]

    async def is_replaced(self, case_id: int) -> bool:
        """Whether a later verdict on the same reply takes the place of this case's."""
        case = await self.get(case_id)
        if case is None:
            return False
        is_later = and_(cases.c.id > case.id, cases.c.attempt > 1, cases.c.judged_at.is_not(None))
        query = select(cases.c.id).where(same_reply(case), counts(cases), is_later).limit(1)
        return bool(await self._database.all(query))

    async def verdict(self, case_id: int) -> RecordedVerdict | None:
        """The recorded verdict with its ratings; None while there is none."""

        async def read(connection: AsyncConnection) -> tuple[Row[Any], Sequence[Row[Any]]]:
            row = (await connection.execute(_BY_ID, {"case_id": case_id})).one()
            which = {"team_id": row.team_id, "case_id": case_id}
            return row, (await connection.execute(_RATINGS, which)).all()

        row, rows = await self._database.read(read)
        if row.judged_at is None:
            return None
        given = tuple(RecordedRating.model_validate(dict(rating._mapping)) for rating in rows)
        return RecordedVerdict.model_validate(dict(row._mapping) | {"ratings": given})

    async def newest(self, limit: int) -> Sequence[LoggedCase]:
        """The newest cases, oldest of them first."""
        rows = await self._database.all(select(cases).order_by(cases.c.id.desc()).limit(limit))
        return [to_case(row) for row in reversed(rows)]

    async def counts(self) -> Mapping[str, int]:
        """How many cases there are, by status; as scraped every few seconds, from indexes and not from the cases."""
        number = func.count().label("number")
        unsettled = select(cases.c.status, number).where(IS_UNSETTLED).group_by(cases.c.status)
        # The delivered ones are what is left of all: SQLite counts rows by a narrow index, and has none by status.
        query = unsettled.union_all(select(null(), number).select_from(cases))
        found = {row.status: row.number for row in await self._database.all(query)}
        delivered = found.pop(None) - sum(found.values())
        return found | ({CaseStatus.DELIVERED: delivered} if delivered else {})

    async def ping(self) -> None:
        """Returns once the log has answered; what it reads does not grow with the cases."""
        await self._database.all(select(processes.c.id).limit(1))
