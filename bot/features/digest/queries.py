"""The causes of a week's low replies."""

from collections.abc import Sequence
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.week import Week
from bot.store.database import Database, lock_words
from bot.store.figures import Place
from bot.store.schema import cases, causes, is_of_case, rows_of_cases
from judge.evaluation.causes import Cause


class SortedReply(NamedTuple):
    """A low reply, with its author and the cause that it was sorted into."""

    case_id: int
    author_id: str | None
    cause: str


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


async def read_causes(database: Database, place: Place, week: Week) -> Sequence[SortedReply]:
    """The low replies of a week, or of the place's author in it, as far as they were sorted."""
    query = sa.select(causes.c.case_id, cases.c.author_id, causes.c.name.label("cause"))
    query = query.join(cases, is_of_case(causes)).where(
        causes.c.team_id == place.team_id,
        causes.c.channel_id.in_((place.channel_id, *place.others)),
        cases.c.judged_at >= week.start,
        cases.c.judged_at < week.end,
    )
    if place.author_id:
        query = query.where(cases.c.author_id == place.author_id)
    return await database.rows(SortedReply, query.order_by(causes.c.case_id))
