"""What people and workspaces have used so far, counted in the transaction that adds a case."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import cache

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.blocker import RefusedError, too_many
from bot.domain.case import Case
from bot.domain.clock import utc_now
from bot.domain.limits import Limits
from bot.store.database import StoreQueries, in_transaction, lock_for_transaction
from bot.store.schema import cases, spent
from bot.store.tables import Condition

DAY = timedelta(days=1)
"""The longest period over which anything is counted."""

_NOBODY = ""
# Whose usage is counted: the columns of a case, and the parameters that they equal.
_ALL: Mapping[str, str] = {}
_WORKSPACE = {"team_id": "of_team"}
_PERSON = {"team_id": "of_team", "requester_id": "of_user"}


class Spending(StoreQueries):
    """Requests beside cases; each counts like a case in the workspace's limits, and in no person's."""

    @in_transaction
    async def reserve(
        self, connection: AsyncConnection, team_id: str, limits: Limits
    ) -> int | None:
        """Counts a request, and returns the number of what was counted; None if a limit is used
        up.
        """
        await lock_for_transaction(connection, f"cases of {team_id}")
        limits_of_team = replace(limits, cases_per_user_per_hour=0)
        if await refusal(connection, limits_of_team, (team_id, _NOBODY)):
            return None
        used = sa.insert(spent).values(team_id=team_id, requester_id=_NOBODY, created_at=utc_now())
        return int((await connection.execute(used.returning(spent.c.id))).scalar_one())

    async def give_back(self, reserved: int) -> None:
        """Counts a request no more, because it was not answered."""
        await self._database.execute(sa.delete(spent).filter_by(id=reserved))


async def check(connection: AsyncConnection, limits: Limits, added: Case) -> None:
    """Raises RefusedError if a case that was just added is one too many: then it is rolled back."""
    whose = added.team_id, added.requester_id
    if why := await refusal(connection, limits, whose, counted=1):
        raise RefusedError(why)


async def refusal(
    connection: AsyncConnection, limits: Limits, whose: tuple[str, str], counted: int = 0
) -> str:
    """Why the next case of a team's person would be one too many, or one that is `counted`
    already; empty if it would not.
    """
    team_id, user_id = whose
    now = utc_now()
    ago = {"hour_ago": now - timedelta(hours=1), "day_ago": now - DAY}
    asked = {"of_team": team_id, "of_user": user_id, **ago}
    used = (await connection.execute(_used(limits), asked)).one()
    for number, (most, who, when) in zip(used, limits.in_words, strict=True):
        if number - counted >= most > 0:
            return too_many(who, most, when)
    return ""


async def keep(connection: AsyncConnection, which: Condition) -> None:
    """Records that there were these cases before they are deleted; otherwise forgetting would lift
    the limits.
    """
    columns = [cases.c.team_id, cases.c.requester_id, cases.c.created_at]
    recent = sa.select(*columns).where(which, cases.c.created_at > utc_now() - DAY)
    names = [column.name for column in columns]
    await connection.execute(sa.insert(spent).from_select(names, recent))


@cache
def _used(limits: Limits) -> sa.Select[int, int, int, int]:
    """What has been used of each limit, in the order of `Limits.in_words`; what has no limit is not
    counted, and nothing further than needed.
    """
    return sa.select(
        _count("hour_ago", limits.cases_per_user_per_hour, _PERSON),
        _count("day_ago", limits.cases_per_user_per_day, _PERSON),
        _count("day_ago", limits.cases_per_day, _WORKSPACE),
        _count("day_ago", limits.cases_per_day_in_all, _ALL),
    )


def _count(since: str, most: int, whose: Mapping[str, str]) -> sa.ColumnElement[int]:
    """How many cases were added since then, including forgotten ones; counts no further than
    needed.
    """
    if not most:
        return sa.literal(0)
    parts = []
    for table in (cases, spent):
        recent = sa.select(sa.literal(1)).where(
            table.c.created_at > sa.bindparam(since),
            *(table.c[column] == sa.bindparam(name) for column, name in whose.items()),
        )
        parts.append(recent.limit(most + 1).subquery().select())
    found = sa.union_all(*parts)
    return sa.select(sa.func.count()).select_from(found.subquery()).scalar_subquery()
