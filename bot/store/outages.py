"""Outages of the model: workspaces in which every verdict has failed for an hour, and who was told."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from bot.store.database import StoreQueries, claim
from bot.store.schema import cases, notices

_LASTS = timedelta(hours=1)
_LOOKED_BACK = timedelta(days=1)
_LEASE = timedelta(minutes=5)


@dataclass(frozen=True)
class Outage:
    """Since when no verdict of a workspace has a score, and why the newest has none."""

    team_id: str
    since: datetime
    reason: str

    @property
    def key(self) -> dict[str, str]:
        whose = {"team_id": self.team_id, "channel_id": "", "author_id": ""}
        return {**whose, "name": f"outage {self.reason}"}


class Outages(StoreQueries):
    async def all(self, now: datetime) -> Sequence[Outage]:
        """Those of all workspaces, of the last day."""
        reason = cases.c.unscored_reason
        is_failed = sa.or_(reason.endswith("Error"), reason.in_(("call_failed", "fault")))
        is_recent = sa.and_(cases.c.created_at > now - _LOOKED_BACK, cases.c.judged_at.is_not(None))
        scored = (
            sa.select(cases.c.team_id, sa.func.max(cases.c.judged_at).label("at"))
            .where(is_recent, cases.c.score.is_not(None))
            .group_by(cases.c.team_id)
            .subquery()
        )
        failed = (
            sa.select(
                cases.c.team_id,
                sa.func.min(cases.c.judged_at).label("first"),
                sa.func.max(cases.c.judged_at).label("last"),
            )
            .outerjoin(scored, scored.c.team_id == cases.c.team_id)
            .where(is_recent, is_failed)
            .where(sa.or_(scored.c.at.is_(None), cases.c.judged_at > scored.c.at))
            .group_by(cases.c.team_id)
        )
        found = []
        for row in await self._database.all(failed):
            if row.last - row.first >= _LASTS:
                last = sa.select(reason).filter_by(team_id=row.team_id, judged_at=row.last)
                why = await self._database.value(last.where(is_failed))
                found.append(Outage(row.team_id, row.first, why))
        return found

    async def claim(self, outage: Outage, to: str, now: datetime) -> bool:
        """Whether it is ours to tell somebody of an outage: once for each cause, unless who was about
        to is gone.
        """
        is_lost = notices.c.posted_at.is_(None) & (notices.c.claimed_at < now - _LEASE)
        is_of_earlier = notices.c.claimed_at < outage.since
        values = {"day": f"{now:%Y-%m-%d}", "claimed_at": now, "posted_at": None}
        key = {**outage.key, "recipient": to}
        is_left = sa.or_(is_lost, is_of_earlier)
        return await claim(self._database, notices, key, values, is_left) is not None

    async def note_told(self, outage: Outage, to: str, now: datetime) -> None:
        told = sa.update(notices).filter_by(**outage.key, recipient=to)
        await self._database.execute(told.values(posted_at=now))
