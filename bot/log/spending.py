"""What people and workspaces have used so far, counted in the transaction that adds a case."""

from datetime import UTC, datetime, timedelta
from functools import cache

from sqlalchemy import ColumnElement, Label, Select, and_, bindparam, func, literal, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import Case
from bot.domain.limits import Limits
from bot.domain.refusal import Refusal, RefusalKind, RefusedError
from bot.log.schema import IS_OPEN, IS_UNSETTLED, cases

_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_IS_OURS = cases.c.team_id == bindparam("of_team")


async def take_turn(connection: AsyncConnection, case: Case) -> None:
    """Waits until no other process adds a case of the same team; SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        await connection.execute(_TURN, {"of_team": case.team_id})


async def check(connection: AsyncConnection, case: Case, limits: Limits) -> None:
    """Counts what there is, with the case that has just been added.

    Raises:
        RefusedError: It is one too many, and must not be left there.
    """
    now = datetime.now(UTC)
    which = {"of_team": case.team_id, "of_user": case.requester_id, "hour_ago": now - _HOUR, "day_ago": now - _DAY}
    used = (await connection.execute(_used(limits), which)).one()
    if used.of_person > limits.cases_per_user_per_hour > 0:
        raise RefusedError(Refusal(RefusalKind.TOO_MANY_CASES, limits.cases_per_user_per_hour))
    if used.of_workspace > limits.cases_per_day > 0:
        raise RefusedError(Refusal(RefusalKind.TOO_MANY_IN_WORKSPACE, limits.cases_per_day))
    # The case itself may be more than is left, so that at most one goes beyond the limit.
    if used.tokens - limits.expected_tokens(case) >= limits.tokens_per_day > 0:
        raise RefusedError(Refusal(RefusalKind.NO_TOKENS_LEFT))


_TURN = text("SELECT pg_advisory_xact_lock(hashtextextended('slack-judge cases of ' || :of_team, 0))")


@cache
def _used(limits: Limits) -> Select[int, int, int]:
    """What has been used of all that is limited; nothing is counted that is not, and no further than needed."""
    is_theirs = and_(_IS_OURS, cases.c.requester_id == bindparam("of_user"))
    return select(
        _count(
            and_(is_theirs, cases.c.created_at > bindparam("hour_ago")), limits.cases_per_user_per_hour, "of_person"
        ),
        _count(and_(_IS_OURS, cases.c.created_at > bindparam("day_ago")), limits.cases_per_day, "of_workspace"),
        _tokens().label("tokens") if limits.tokens_per_day else literal(0).label("tokens"),
    )


def _count(which: ColumnElement[bool], most: int, name: str) -> Label[int]:
    if not most:
        return literal(0).label(name)
    some = select(literal(1)).select_from(cases).where(which).limit(most + 1).subquery()
    return select(func.count()).select_from(some).scalar_subquery().label(name)


def _tokens() -> ColumnElement[int]:
    """What verdicts have taken, as far as the models' servers count it, and what is set aside for the others."""
    taken = func.coalesce(cases.c.input_tokens, 0) + func.coalesce(cases.c.output_tokens, 0) + cases.c.reserved_tokens
    # Two sums rather than one with OR, so that each has its index.
    judged, waiting = (
        select(func.coalesce(func.sum(taken), 0)).where(_IS_OURS, *which).scalar_subquery()
        for which in (
            (cases.c.judged_at > bindparam("day_ago"),),
            (cases.c.judged_at.is_(None), IS_UNSETTLED, IS_OPEN),
        )
    )
    return judged + waiting
