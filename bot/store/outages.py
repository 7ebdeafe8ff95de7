"""Outages of the model: workspaces in which no verdict has had a score for an hour."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

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


_REASON = cases.c.unscored_reason
_IS_FAILED = sa.or_(_REASON.endswith("Error"), _REASON.in_(("call_failed", "fault")))
_NEWEST_FIRST = sa.select(cases.c.judged_at, _REASON).order_by(cases.c.judged_at.desc())


async def read_outages(database: Database, now: datetime) -> Sequence[Outage]:
    """Those of all workspaces where a verdict has failed within a day."""
    is_recent = cases.c.created_at > now - _LOOKED_BACK
    teams = sa.select(cases.c.team_id).where(is_recent, _IS_FAILED)
    outages = []
    for team_id in await database.values(teams.distinct()):
        failed = await _failed_since_a_score(database, team_id)
        if failed and failed[0].judged_at - failed[-1].judged_at >= _LASTS:
            outages.append(Outage(team_id, failed[-1].judged_at, failed[0].unscored_reason))
    return outages


async def _failed_since_a_score(database: Database, team_id: str) -> Sequence[sa.Row[Any]]:
    """The failures of a workspace since its last score, the newest first."""
    newest_first = _NEWEST_FIRST.filter_by(team_id=team_id)
    scored = await database.one(newest_first.where(cases.c.score.is_not(None)).limit(1))
    since = scored.judged_at if scored else BEGINNING
    return await database.all(newest_first.where(_IS_FAILED, cases.c.judged_at > since))
