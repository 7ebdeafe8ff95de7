"""Which verdicts count, in figures and exports alike: what a whole channel could see, and of a reply the newest."""

from sqlalchemy import ColumnElement, FromClause, Select, and_, literal_column, select

from bot.log.schema import cases

NEWER = cases.alias("newer")
"""In the conditions of `superseded`: the verdict that is newer."""
_OLDER = cases.alias("older")
_THREAD: ColumnElement[str] = literal_column("'thread'")


def is_public(table: FromClause) -> ColumnElement[bool]:
    """Whether everybody in the channel could see a verdict; said as in the indexes, so that they are used."""
    return and_(table.c.visibility == _THREAD, table.c.obstacle.is_(None), table.c.blocked_by.is_(None))


def superseded(*conditions: ColumnElement[bool]) -> Select[tuple[int]]:
    """The ids of cases whose message has a newer public verdict, of which `conditions` hold."""
    is_same = and_(
        _OLDER.c.team_id == NEWER.c.team_id,
        _OLDER.c.channel_id == NEWER.c.channel_id,
        _OLDER.c.message_ts == NEWER.c.message_ts,
        _OLDER.c.id < NEWER.c.id,
    )
    is_repeat = and_(NEWER.c.attempt > literal_column("1"), NEWER.c.judged_at.is_not(None), is_public(NEWER))
    return select(_OLDER.c.id).join(NEWER, is_same).where(is_repeat, *conditions)
