"""The standings as the looks store them: what is to be told, and the effects of releases."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.standing import Standing, Subject
from bot.domain.verdict import base_version, later_version
from bot.store import database as db
from bot.store.schema import cases, releases, standings
from bot.store.standings import Standings, values_of
from bot.store.watches import JUDGE


class StandingSteps(Standings):
    async def untold(self, team_id: str) -> Sequence[Standing]:
        """Those whose change is still to be told, the oldest first."""
        return await self._rows(sa.and_(standings.c.team_id == team_id, standings.c.is_to_tell))

    async def of_releases(self, release_ids: Collection[int]) -> Mapping[int, Standing]:
        """The effects of these releases, as far as they are known."""
        rows = await self._rows(standings.c.release_id.in_(release_ids))
        return {row.release_id: row for row in rows if row.release_id is not None}

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
        values = values_of(standing)
        # Another process may be telling it.
        del values["is_to_tell"], values["told_at"]
        row = sa.update(standings).filter_by(id=standing.id)
        await self._database.execute(row.values(values))

    async def note_told(self, standing: Standing, told_at: datetime | None) -> None:
        """Records that nobody is left to be told, and when somebody was."""
        row = sa.update(standings).filter_by(id=standing.id)
        await self._database.execute(row.values(is_to_tell=False, told_at=told_at))


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
