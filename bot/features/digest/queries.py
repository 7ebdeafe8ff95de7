"""Which channels the Home tab lists, their glances, and the causes of a week's low replies."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.database import Database, lock_learning
from bot.store.figures import Place
from bot.store.schema import cases, causes
from bot.store.visibility import counts
from judge.evaluation.causes import Cause


async def busiest(database: Database, team_id: str, channel_ids: Collection[str], since: datetime) -> Sequence[str]:
    is_among = sa.and_(cases.c.team_id == team_id, cases.c.channel_id.in_(channel_ids))
    query = sa.select(cases.c.channel_id).where(is_among, cases.c.judged_at >= since, counts(cases))
    query = query.group_by(cases.c.channel_id).order_by(sa.func.count().desc(), cases.c.channel_id)
    return await database.values(query)


async def note_causes(database: Database, place: Place, week: str, found: Sequence[Cause]) -> None:
    """Keeps the causes of a week's low replies, without those that have lost their reason meanwhile."""

    async def note(connection: AsyncConnection) -> None:
        await lock_learning(connection)  # as whoever deletes these cases does, so that neither waits for the other
        for name, case_ids in found:
            values = *map(sa.literal, (place.channel_id, week)), sa.literal(name, causes.c.name.type)
            rows = sa.select(cases.c.team_id, cases.c.id, *values).where(
                cases.c.team_id == place.team_id, cases.c.id.in_(case_ids), cases.c.justification != ""
            )
            into = ["team_id", "case_id", "channel_id", "week", "name"]
            await connection.execute(sa.insert(causes).from_select(into, rows))

    await database.write(note)


async def read_causes(database: Database, place: Place, week: str) -> Mapping[int, str]:
    """The cause of each low reply of a week by case, as far as they were sorted."""
    its = {"team_id": place.team_id, "channel_id": place.channel_id, "week": week}
    rows = await database.all(sa.select(causes.c.case_id, causes.c.name).filter_by(**its))
    return {row.case_id: row.name for row in rows}
