"""Asks people who agreed to it for a few blind labels: two a week in each workspace, by direct
message.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from bot.domain.case import Recipient
from bot.domain.clock import utc_week
from bot.features.labels import text as words
from bot.features.labels.blind import served_channels
from bot.services import Services
from bot.store import database as db
from bot.store.notices import day_of
from bot.store.schema import notices, people

TEAMS = sa.select(people.c.team_id).where(people.c.is_asked)
"""The teams with people who agreed."""
_A_WEEK = 2
_PAUSE_MINUTES = (
    15  # where no reply waits, each look reads what is drawn from all of a person's channels
)
# in the time zone of the digests
_HOURS = range(9, 17)
_SATURDAY = 5
_OF_NO_CHANNEL = {"channel_id": "", "author_id": ""}


async def ask_due(services: Services) -> None:
    """Asks those for whom replies wait, the one asked longest ago first; who cannot be told is left
    out this week.
    """
    now = services.clock()
    if not _is_time(now.astimezone(services.schedule.zone)):
        return
    team_id = services.identity.team_id
    database = services.store.database
    notice = _OF_NO_CHANNEL | {"team_id": team_id, "name": f"labels {utc_week(now):%Y-%m-%d}"}
    in_turn = await database.values(_in_turn(team_id))
    # Read after their order, which a request by another process changes.
    asked = set(await database.values(sa.select(notices.c.recipient).filter_by(**notice)))
    for user_id in in_turn:
        if len(asked) < _A_WEEK and user_id not in asked and await _has_waiting(services, user_id):
            asked.add(user_id)
            values = notice | {"recipient": user_id, "day": day_of(now), "claimed_at": now}
            await _ask(services, values)


async def _ask(services: Services, notice: Mapping[str, Any]) -> None:
    """Asks a person, noted before that, so that no other process asks them, too."""
    database = services.store.database
    if await database.execute(db.insert_new(database, notices, notice)):
        await services.messenger.direct(Recipient(notice["recipient"], ""), words.ASKED)


def _is_time(local: datetime) -> bool:
    is_quarter = local.minute % _PAUSE_MINUTES == 0
    return is_quarter and local.hour in _HOURS and local.weekday() < _SATURDAY


async def _has_waiting(services: Services, user_id: str) -> bool:
    """Whether a reply waits for this person's label."""
    channel_ids = await served_channels(services, user_id)
    team_id = services.identity.team_id
    return await services.store.assignments.waiting(team_id, user_id, channel_ids) is not None


def _in_turn(team_id: str) -> sa.Select[tuple[str]]:
    """Those who agreed, the one asked longest ago first."""
    theirs = sa.select(sa.func.max(notices.c.claimed_at)).filter_by(
        team_id=team_id, recipient=people.c.user_id, **_OF_NO_CHANNEL
    )
    last = theirs.scalar_subquery()
    agreed = sa.select(people.c.user_id).where(people.c.team_id == team_id, people.c.is_asked)
    return agreed.order_by(last.is_not(None), last, people.c.updated_at)
