"""What a person did with the cases that they were shown for blind labels."""

from collections.abc import Collection, Sequence

from sqlalchemy import select

from bot.domain.case import LoggedCase
from bot.store.database import Database
from bot.store.schema import cases, labels, people


async def wants_to_be_asked(database: Database, team_id: str, user_id: str) -> bool:
    return bool(
        await database.value(select(people.c.is_asked).filter_by(team_id=team_id, user_id=user_id))
    )


async def read_compared(
    database: Database,
    team_id: str,
    user_id: str,
    case_ids: Collection[int],
    channel_ids: Collection[str],
) -> Sequence[tuple[LoggedCase, int]]:
    """Those of these cases, in these channels, that the person has labelled blind, and the labels,
    in their order.
    """
    query = (
        select(cases, labels.c.score.label("label"))
        .select_from(labels)
        .join(cases)
        .where(
            labels.c.team_id == team_id,
            labels.c.user_id == user_id,
            labels.c.is_blind,
            cases.c.score.is_not(None),
        )
        .where(cases.c.id.in_(case_ids), cases.c.channel_id.in_(channel_ids))
    )
    rows = await database.all(query.order_by(labels.c.created_at, labels.c.case_id))
    return [(LoggedCase(**row._mapping), row.label) for row in rows]
