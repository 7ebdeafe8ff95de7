"""Outages of the model: workspaces in which no verdict has had a score for an hour."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from bot.store.database import Database
from bot.store.figures import BEGINNING
from bot.store.schema import cases

_LASTS = timedelta(hours=1)
_LOOKED_BACK = timedelta(days=1)


@dataclass(frozen=True)
class Outage:
    """Since when no verdict of a workspace has had a score, and why the newest has none."""

    team_id: str
    since: datetime
    reason: str

    @property
    def name(self) -> str:
        """What is told once of it: each cause."""
        return f"outage since {self.since.isoformat()}: {self.reason}"


async def read_outages(database: Database, now: datetime) -> Sequence[Outage]:
    """Those of all workspaces where a verdict has failed within a day."""
    reason = cases.c.unscored_reason
    is_failed = sa.or_(reason.endswith("Error"), reason.in_(("call_failed", "fault")))
    teams = sa.select(cases.c.team_id).where(cases.c.created_at > now - _LOOKED_BACK, is_failed)
    outages = []
    for team_id in await database.values(teams.distinct()):
        newest_first = sa.select(cases.c.judged_at, reason).filter_by(team_id=team_id)
        newest_first = newest_first.order_by(cases.c.judged_at.desc())
        scored = await database.one(newest_first.where(cases.c.score.is_not(None)).limit(1))
        since = scored.judged_at if scored else BEGINNING
        rows = await database.all(newest_first.where(is_failed, cases.c.judged_at > since))
        if rows and rows[0].judged_at - rows[-1].judged_at >= _LASTS:
            outages.append(Outage(team_id, rows[-1].judged_at, rows[0].unscored_reason))
    return outages
