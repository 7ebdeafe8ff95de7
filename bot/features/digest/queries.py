"""Which channels the Home tab lists, their glances, and the causes of a week's low replies."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.database import Database, lock_words
from bot.store.figures import Place
from bot.store.schema import cases, causes, is_of_case, rows_of_cases
from bot.store.visibility import counts
from judge.evaluation.causes import Cause

Channel = tuple[str, str]  # in its team


async def count_cases(
    database: Database, channels: Sequence[Channel], since: datetime
) -> Mapping[Channel, int]:
    team_id = channels[0][0]
    its = cases.c.channel_id
    query = sa.select(its, sa.func.count()).where(
        cases.c.team_id == team_id, its.in_([each for _, each in channels])
    )
    rows: Iterable[Any] = await database.all(
        query.where(cases.c.judged_at >= since, counts(cases)).group_by(its)
    )
    return dict.fromkeys(channels, 0) | {
        (team_id, channel_id): number for channel_id, number in rows
    }


async def note_causes(database: Database, place: Place, week: str, found: Sequence[Cause]) -> None:
    """Keeps the causes of a week's low replies, without those that have lost their reason
    meanwhile.
    """

    async def note(connection: AsyncConnection) -> None:
        await lock_words(
            connection
        )  # as whoever deletes these cases does, so that neither waits for the other
        for name, case_ids in found:
            has_reason = sa.and_(
                cases.c.team_id == place.team_id,
                cases.c.id.in_(case_ids),
                cases.c.justification != "",
            )
            rows = rows_of_cases(
                causes, has_reason, channel_id=place.channel_id, week=week, name=name
            )
            await connection.execute(sa.insert(causes).from_select(*rows))

    await database.write(note)


async def read_causes(database: Database, place: Place, week: str) -> Mapping[int, str]:
    """The cause of each low reply of a week, or of the place's author, by case, as far as they were
    sorted.
    """
    its = {"team_id": place.team_id, "channel_id": place.channel_id, "week": week}
    query = sa.select(causes.c.case_id, causes.c.name).filter_by(**its)
    if place.author_id is not None:
        query = query.join(cases, is_of_case(causes)).where(cases.c.author_id == place.author_id)
    return {row.case_id: row.name for row in await database.all(query)}
