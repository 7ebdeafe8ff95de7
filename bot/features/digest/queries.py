"""Which channels the Home tab lists, and their glances."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa

from bot.domain.week import Week
from bot.figures.week import Glance, read_counts, spans_of, to_glance
from bot.store.database import Database
from bot.store.figures import Place, Tallies
from bot.store.schema import cases
from bot.store.visibility import counts


async def busiest(database: Database, team_id: str, channel_ids: Collection[str], since: datetime) -> Sequence[str]:
    is_among = sa.and_(cases.c.team_id == team_id, cases.c.channel_id.in_(channel_ids))
    query = sa.select(cases.c.channel_id).where(is_among, cases.c.judged_at >= since, counts(cases))
    query = query.group_by(cases.c.channel_id).order_by(sa.func.count().desc(), cases.c.channel_id)
    return await database.values(query)


async def read_glances(tallies: Tallies, place: Place, week: Week, now: datetime) -> Mapping[str, Glance]:
    """A glance at each channel of a place."""
    spans = spans_of(week, now)
    counted = await read_counts(tallies, place, week, spans, by_author=False)
    return {channel_id: to_glance(week, spans[0].end, each) for channel_id, each in counted.items()}
