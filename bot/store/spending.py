"""What people and workspaces have used so far, counted in the transaction that adds a case."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.blocker import NO_TOKENS_LEFT, too_many
from bot.domain.case import Case
from bot.domain.clock import utc_now
from bot.domain.limits import Limits
from bot.store.database import StoreQueries, in_transaction, lock_for_transaction
from bot.store.schema import IS_OPEN, IS_UNSETTLED, cases, spent
from bot.store.tables import Condition

DAY = timedelta(days=1)
"""The longest period over which anything is counted."""

_NOBODY = ""
_LAST = 50
_TAKEN = (
    sa.func.coalesce(cases.c.input_tokens, 0)
    + sa.func.coalesce(cases.c.output_tokens, 0)
    + cases.c.reserved_tokens
)
"""The tokens that a case has taken, or that are reserved for it."""
# A case that is forgotten without a verdict has not asked a model.
_SPENT_TOKENS = sa.case((cases.c.judged_at.is_(None), 0), else_=_TAKEN).label("tokens")
_SPENT = (cases.c.team_id, cases.c.requester_id, cases.c.created_at, _SPENT_TOKENS)


class Spending(StoreQueries):
    """Requests beside cases; each counts like a case in the workspace's limits, and in no person's."""

    @in_transaction
    async def reserve(
        self, connection: AsyncConnection, team_id: str, limits: Limits, tokens: int
    ) -> int | None:
        """Reserves tokens for one request, and returns the reservation's number; None if a limit is
        used up.
        """
        await lock_for_transaction(connection, f"cases of {team_id}")
        if await refusal(
            connection, replace(limits, cases_per_user_per_hour=0), (team_id, _NOBODY)
        ):
            return None
        used = {
            "team_id": team_id,
            "requester_id": _NOBODY,
            "created_at": utc_now(),
            "tokens": tokens,
        }
        return int(
            (
                await connection.execute(sa.insert(spent).values(used).returning(spent.c.id))
            ).scalar_one()
        )

    async def mean_cost(self, team_id: str, version: str) -> float | None:
        """What the last verdicts of a judge version cost on average, in US dollars; None if that is
        not known of them.
        """
        own = sa.select(cases.c.cost_usd).filter_by(team_id=team_id, judge_version=version)
        last = own.order_by(cases.c.judged_at.desc()).limit(_LAST).subquery()
        mean = sa.func.avg(last.c.cost_usd).label("mean")
        [row] = await self._database.all(sa.select(mean))
        found: float | None = row.mean
        return found

    async def note(self, reserved: int, tokens: int | None) -> None:
        """Records how many of the reserved tokens a request took; None gives them back, because it
        was not answered.
        """
        its = spent.c.id == reserved
        change = (
            sa.delete(spent).where(its)
            if tokens is None
            else sa.update(spent).where(its).values(tokens=tokens)
        )
        await self._database.execute(change)


async def refusal(
    connection: AsyncConnection, limits: Limits, whose: tuple[str, str], added: Case | None = None
) -> str:
    """Why the next case of a team's person would be one too many; empty if it would not.

    With `added`, usage already includes that case of theirs; if it is one too many, it must be
    rolled back.
    """
    # A single case may take more than is left, so at most one goes beyond the token limit.
    counted, reserved = (
        (1, limits.expected_tokens(added.question, added.response)) if added else (0, 0)
    )
    now = utc_now()
    which = {
        "of_team": whose[0],
        "of_user": whose[1],
        "hour_ago": now - timedelta(hours=1),
        "day_ago": now - DAY,
    }
    used = (await connection.execute(_used(limits), which)).one()
    if used.in_hour - counted >= limits.cases_per_user_per_hour > 0:
        return too_many(limits.who, limits.cases_per_user_per_hour, "in the last hour")
    if used.in_day - counted >= limits.cases_per_user_per_day > 0:
        return too_many(limits.who, limits.cases_per_user_per_day, "in the last 24 hours")
    if used.of_workspace - counted >= limits.cases_per_day > 0:
        return too_many("This workspace", limits.cases_per_day, "in the last 24 hours")
    tokens = (
        (used.tokens, limits.tokens_per_day),
        (used.tokens_of_person, limits.tokens_per_user_per_day),
    )
    return NO_TOKENS_LEFT if any(taken - reserved >= most > 0 for taken, most in tokens) else ""


async def keep(connection: AsyncConnection, which: Condition) -> None:
    """Records what these cases have used before they are deleted; otherwise forgetting would lift
    the limits.
    """
    is_counted = cases.c.created_at > utc_now() - DAY
    await connection.execute(
        sa.insert(spent).from_select(
            [each.name for each in _SPENT], sa.select(*_SPENT).where(which, is_counted)
        )
    )


@cache
def _used(limits: Limits) -> sa.Select[int, int, int, int, int]:
    """What has been used of each limit; what has no limit is not counted, and nothing further than
    needed.
    """
    none = sa.literal(0)
    return sa.select(
        _count("hour_ago", limits.cases_per_user_per_hour, is_of_person=True).label("in_hour"),
        _count("day_ago", limits.cases_per_user_per_day, is_of_person=True).label("in_day"),
        _count("day_ago", limits.cases_per_day, is_of_person=False).label("of_workspace"),
        (_tokens(is_of_person=False) if limits.tokens_per_day else none).label("tokens"),
        (_tokens(is_of_person=True) if limits.tokens_per_user_per_day else none).label(
            "tokens_of_person"
        ),
    )


def _count(since: str, most: int, *, is_of_person: bool) -> sa.ColumnElement[int]:
    """How many cases were added since then, including forgotten ones; counts no further than
    needed.
    """
    if not most:
        return sa.literal(0)
    recent = (
        sa.select(sa.literal(1)).where(
            *_whose(each, is_of_person), each.c.created_at > sa.bindparam(since)
        )
        for each in (cases, spent)
    )
    found = sa.union_all(*(each.limit(most + 1).subquery().select() for each in recent))
    return sa.select(sa.func.count()).select_from(found.subquery()).scalar_subquery()


def _tokens(*, is_of_person: bool) -> sa.ColumnElement[int]:
    """The tokens that verdicts took, as far as the models' servers report them, and those reserved
    for other cases.
    """
    whose = _whose(cases, is_of_person)
    # Sums rather than one query with OR, so that each uses its index.
    judged = _sum_of(_TAKEN, *whose, cases.c.judged_at > sa.bindparam("day_ago"))
    waiting = _sum_of(_TAKEN, *whose, cases.c.judged_at.is_(None), IS_UNSETTLED, IS_OPEN)
    is_recent = spent.c.created_at > sa.bindparam("day_ago")
    return judged + waiting + _sum_of(spent.c.tokens, *_whose(spent, is_of_person), is_recent)


def _sum_of(
    tokens: sa.ColumnElement[int], *which: Condition | sa.TextClause
) -> sa.ScalarSelect[int]:
    return sa.select(sa.func.coalesce(sa.func.sum(tokens), 0)).where(*which).scalar_subquery()


def _whose(table: sa.Table, is_of_person: bool) -> Sequence[Condition]:
    of_team = table.c.team_id == sa.bindparam("of_team")
    of_user = table.c.requester_id == sa.bindparam("of_user")
    return (of_team, of_user) if is_of_person else (of_team,)
