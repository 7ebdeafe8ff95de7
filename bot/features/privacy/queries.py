"""Which cases are meant by what a person asks to forget."""

from collections.abc import Sequence

from sqlalchemy import and_, or_, select, union

from bot.domain.case import LoggedCase, Part
from bot.store.database import Database
from bot.store.schema import cases, rubrics, turns


async def cases_at(
    database: Database, team_id: str, channel_id: str, ts: str, parent_ts: str | None
) -> Sequence[LoggedCase]:
    """All cases of one message, oldest first; `ts` is that message, a verdict on it, or two typed texts."""
    here = and_(cases.c.team_id == team_id, cases.c.channel_id == channel_id)
    in_thread = and_(here, cases.c.thread_ts == (parent_ts or ts))
    is_typed = cases.c.message_ts.is_(None)
    # A union, so that each part uses its index: for "or" SQLite would go through the whole channel.
    places = select(cases.c.message_ts, cases.c.thread_ts)
    named = union(
        places.where(here, cases.c.message_ts == ts),
        places.join(turns, and_(turns.c.team_id == cases.c.team_id, turns.c.case_id == cases.c.id)).where(
            here, turns.c.channel_id == channel_id, turns.c.ts == ts, turns.c.part == Part.RESPONSE
        ),
        places.where(in_thread, or_(cases.c.reply_ts == ts, and_(is_typed, cases.c.thread_ts == ts))),
    )
    found = await database.all(named)
    scored = [row.message_ts for row in found if row.message_ts]
    typed = [row.thread_ts for row in found if not row.message_ts]
    same = union(
        select(cases.c.id).where(here, cases.c.message_ts.in_(scored)),
        select(cases.c.id).where(here, cases.c.thread_ts.in_(typed), is_typed),
    )
    query = select(cases).where(cases.c.id.in_(same)).order_by(cases.c.id)
    return await database.rows(LoggedCase, query)


async def are_examples(database: Database, team_id: str, case_ids: Sequence[int]) -> bool:
    """Whether a saved rubric has one of these cases as an example."""
    has = or_(*(rubrics.c.prompt.contains(f'<example case="{number}">') for number in case_ids))
    return bool(await database.all(select(rubrics.c.name).where(rubrics.c.team_id == team_id, has).limit(1)))
