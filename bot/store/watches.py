"""What the whole app reads and writes of channels' watches, and of the replies that they have seen."""

from collections.abc import Sequence
from dataclasses import replace

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import LoggedCase
from bot.domain.verdict import later_version
from bot.domain.watch import ReplyOutcome, Shows, Watch
from bot.store.database import StoreQueries, columns_of
from bot.store.schema import cases, releases, replies, watches
from bot.store.tables import Condition
from bot.store.visibility import is_watched, same_reply

EVERYWHERE = ""
"""In place of a channel in the order for all public ones."""
JUDGE = "judge"
"""Who set a release that is no assistant's, but a change of the judge under its name; its note is the judge version."""


class Watches(StoreQueries):
    async def of(self, team_id: str, channel_id: str | None = None) -> Sequence[Watch]:
        """The watches of channels, or of one."""
        which = watches.c.channel_id != EVERYWHERE
        if channel_id is not None:
            which = watches.c.channel_id == channel_id
        return await self._watches(team_id, which)

    async def _watches(self, team_id: str, which: Condition) -> Sequence[Watch]:
        columns = columns_of(watches, Watch, "channels")
        query = sa.select(*columns).where(watches.c.team_id == team_id, which)
        in_order = query.order_by(watches.c.channel_id, watches.c.author_id)
        found = await self._database.rows(Watch, in_order)
        return [replace(each, shows=Shows(each.shows)) for each in found]

    async def drawn(self, case: LoggedCase, version: str) -> LoggedCase | None:
        """The case of the same reply that a watch drew and this judge version has scored."""

        async def read(connection: AsyncConnection) -> LoggedCase | None:
            scored_by = await version_since(connection, case, version)
            query = sa.select(cases).where(
                same_reply(case), is_watched(cases), cases.c.judge_version == scored_by
            )
            row = (await connection.execute(query)).first()
            return LoggedCase(**row._mapping) if row else None

        return await self._database.read(read)


async def version_since(connection: AsyncConnection, case: LoggedCase, version: str) -> str:
    """What a judge version is called in a case from now on: later, if the judge has changed under
    its name.
    """
    author = {"team_id": case.team_id, "channel_id": case.channel_id, "author_id": case.author_id}
    since = sa.select(sa.func.max(releases.c.set_at)).filter_by(
        set_by=JUDGE, note=version, **author
    )
    found = (await connection.execute(since)).scalar()
    return later_version(version, found) if found else version


def miss(case: LoggedCase) -> sa.Update:
    its_reply = {"team_id": case.team_id, "channel_id": case.channel_id, "ts": case.message_ts}
    return sa.update(replies).filter_by(**its_reply).values(outcome=ReplyOutcome.MISSED)
