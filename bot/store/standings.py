"""The standings of assistants: a row for each change, of which the newest is the one that counts.

Beside them stand the effects of releases, which are no standing of a subject.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.sql.dml import Insert

from bot.domain.standing import Standing, Subject, Whose
from bot.store import database as db
from bot.store.schema import releases, standings
from bot.store.tables import Condition
from bot.store.watches import JUDGE
from judge.evaluation.standing import Direction, Event

_IS_STANDING = standings.c.release_id.is_(None)
_NEWEST = (
    sa.select(sa.func.max(standings.c.id))
    .where(_IS_STANDING)
    .group_by(standings.c.team_id, standings.c.channel_id, standings.c.author_id)
)
# A step that begins so long after a release, or before it, is taken to be its effect.
_LATE = timedelta(days=2)
_EARLY = timedelta(days=1)


class Standings(db.StoreQueries):
    async def of_team(self, team_id: str) -> Mapping[Subject, Standing]:
        newest = _NEWEST.where(standings.c.team_id == team_id)
        rows = await self._rows(standings.c.id.in_(newest))
        return {each.subject: each for each in rows}

    async def newest(self) -> Sequence[Standing]:
        """The standing of every subject of all teams."""
        return await self._rows(standings.c.id.in_(_NEWEST))

    async def of(self, subject: Subject) -> Standing | None:
        """The standing as it is now; None if nothing was scored."""
        are_its = (standings.c[name] == value for name, value in subject._asdict().items())
        rows = await self._rows(standings.c.id.in_(_NEWEST.where(*are_its)))
        return rows[0] if rows else None

    async def begin(self, standing: Standing) -> None:
        """Stores a change as a new row, unless another process has stored what follows on the same
        row, or the effect of the same release.
        """
        await self._database.execute(self._new(standing))

    def _new(self, standing: Standing) -> Insert:
        return db.insert_new(self._database, standings, values_of(standing))

    async def _rows(self, which: Condition) -> list[Standing]:
        columns = db.columns_of(standings, Standing, "released_on")
        query = sa.select(*columns).where(which).order_by(standings.c.id)
        rows = [_to_standing(row) for row in await self._database.all(query)]
        # Releases are few: all of these teams.
        is_release = (
            releases.c.team_id.in_({standing.team_id for standing in rows}),
            releases.c.taken_back_at.is_(None),
            releases.c.set_by != JUDGE,
        )
        released = await self._database.all(sa.select(releases).where(*is_release))
        return [replace(row, released_on=_released_on(released, row)) for row in rows]


def _released_on(released: Sequence[sa.Row[Any]], standing: Standing) -> date | None:
    """The day of the release with which a change began, give or take a day or two."""
    since = standing.since
    if since is None:
        return None
    near = [
        row.day
        for row in released
        if (row.team_id, row.channel_id, row.author_id) == standing.subject
        and since - _LATE <= row.day <= since + _EARLY
    ]
    return min(near, key=lambda day: abs(day - since), default=None)


def values_of(standing: Standing) -> dict[str, Any]:
    values = asdict(standing)
    del values["id"]
    del values["released_on"]
    return values


def _to_standing(row: sa.Row[Any]) -> Standing:
    stored = Standing(**row._mapping)
    return replace(
        stored,
        direction=Direction(stored.direction),
        event=Event(stored.event) if stored.event else None,
        whose=Whose(stored.whose) if stored.whose else None,
    )
