"""The standings of assistants: a row for each change, of which the newest is the one that counts.

Beside them stand the effects of releases, which only `untold` and `of_releases` return.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.dml import Insert

from bot.domain.standing import Standing, Subject, Whose
from bot.domain.verdict import base_version, later_version
from bot.store import database as db
from bot.store.schema import cases, releases, standings
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

    async def untold(self, team_id: str) -> Sequence[Standing]:
        """Those whose change is still to be told, the oldest first."""
        return await self._rows(sa.and_(standings.c.team_id == team_id, standings.c.is_to_tell))

    async def of_releases(self, release_ids: Collection[int]) -> Mapping[int, Standing]:
        """The effects of these releases, as far as they are known."""
        rows = await self._rows(standings.c.release_id.in_(release_ids))
        return {row.release_id: row for row in rows if row.release_id is not None}

    async def begin(self, standing: Standing) -> None:
        """Stores a change as a new row, unless another process has stored what follows on the same
        row, or the effect of the same release.
        """
        await self._database.execute(self._new(standing))

    def _new(self, standing: Standing) -> Insert:
        return db.insert_new(self._database, standings, _values(standing))

    @db.in_transaction
    async def begin_with_judge(
        self,
        connection: AsyncConnection,
        standing: Standing,
        version: str | None,
        since: datetime,
        channel_ids: Sequence[str],
    ) -> None:
        """Stores a change of the judge under its name, as `begin` does, and that scores of `version`
        from `since` on are of a later judge version in these channels.
        """
        if not (await connection.execute(self._new(standing))).rowcount:
            return
        for channel_id in channel_ids:
            subject = standing.subject._replace(channel_id=channel_id)
            await _change_judge(connection, subject, version, since)

    async def go_on(self, standing: Standing) -> None:
        """Stores the newer figures of a standing that has not changed."""
        values = _values(standing)
        # Another process may be telling it.
        del values["is_to_tell"], values["told_at"]
        row = sa.update(standings).filter_by(id=standing.id)
        await self._database.execute(row.values(values))

    async def note_told(self, standing: Standing, told_at: datetime | None) -> None:
        """Records that nobody is left to be told, and when somebody was."""
        row = sa.update(standings).filter_by(id=standing.id)
        await self._database.execute(row.values(is_to_tell=False, told_at=told_at))

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


async def _change_judge(
    connection: AsyncConnection, subject: Subject, version: str | None, since: datetime
) -> None:
    """Makes the scores of a subject since then those of a later judge version, if there are any."""
    key = subject._asdict()
    judge = base_version(version)
    its = sa.update(cases).filter_by(**key, judge_version=version)
    later = its.values(judge_version=later_version(judge, since))
    if (await connection.execute(later.where(cases.c.judged_at >= since))).rowcount:
        mark = {"set_by": JUDGE, "set_at": since, "day": since.date(), "note": judge}
        await connection.execute(sa.insert(releases).values(**key, **mark))


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


def _values(standing: Standing) -> dict[str, Any]:
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
