"""Which verdicts are in figures and exports: what a whole channel could see, and of each reply the
newest.

Figures are about replies, so typed texts are in exports alone. Excluded verdicts do not count (see
`Exclusion`), and what a watch has drawn is counted separately.
"""

from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from bot.domain.case import LoggedCase
from bot.store.schema import cases
from bot.store.tables import Condition

NEWER = cases.alias("newer")
"""The newer verdict in the conditions of `superseded`."""
_OLDER = cases.alias("older")
_THREAD: sa.ColumnElement[str] = sa.literal_column("'thread'")


def counts(table: sa.FromClause) -> Condition:
    """Whether a verdict is on a message, not on typed texts, which anybody can make up, and
    everybody saw it.

    Written as in the indexes.
    """
    return sa.and_(table.c.message_ts.is_not(None), is_shared(table))


def is_shared(table: sa.FromClause) -> Condition:
    """Whether a verdict was asked for, everyone in the channel could see it, and it is not
    excluded.
    """
    return sa.and_(
        table.c.visibility == _THREAD,
        table.c.blocker.is_(None),
        table.c.blocked_by.is_(None),
        table.c.excluded.is_(None),
        table.c.probability.is_(None),
    )


def is_watched(table: sa.FromClause) -> Condition:
    """Whether a watch drew the reply; such cases have figures of their own, whatever is shown of
    them.

    Written as in the index. Of a reply that was scored again because it went on, the last verdict
    counts.
    """
    return sa.and_(table.c.probability.is_not(None), table.c.excluded.is_(None))


class Origin(StrEnum):
    """How replies came to be scored; figures of different origins are never joined.

    `CHOSEN`: people asked. `WATCHED`: watches drew them.
    """

    CHOSEN = "chosen"
    WATCHED = "watched"


def is_low() -> Condition:
    """Whether a score is low on its scale, as `low_to` says."""
    return cases.c.score <= cases.c.lowest + 0.4 * (cases.c.highest - cases.c.lowest)


def chosen_or_watched(*newer: Condition, watched: bool) -> Condition:
    """Which cases are used of those that people chose, or among those that watches drew: never both
    in one figure.

    `newer` are conditions on the newer verdicts, for a query on a part of the database.
    """
    if not watched:
        return sa.and_(is_shared(cases), cases.c.id.not_in(superseded(*newer)))
    # A drawn reply stays in the sample, even if a person has it scored once more.
    return sa.and_(is_watched(cases), cases.c.blocker.is_(None), cases.c.blocked_by.is_(None))


def same_reply(case: LoggedCase | sa.Row[*tuple[Any, ...]]) -> Condition:
    """Whether cases are about the same reply: on one message or, for typed texts, in the thread
    that those began.
    """
    is_same = cases.c.message_ts == case.message_ts
    if case.message_ts is None:
        is_same = sa.and_(cases.c.message_ts.is_(None), cases.c.thread_ts == (case.thread_ts or ""))
    return sa.and_(cases.c.team_id == case.team_id, cases.c.channel_id == case.channel_id, is_same)


def superseded(*conditions: Condition) -> sa.Select[tuple[int]]:
    """The ids of cases whose message has a newer shared verdict and for which `conditions` hold."""
    is_older = sa.and_(_OLDER.c.id < NEWER.c.id, on_same_message(_OLDER, NEWER))
    return sa.select(_OLDER.c.id).join(NEWER, is_older).where(_IS_REPEAT, *conditions)


def is_superseded() -> Condition:
    """Whether a case's message has a newer shared verdict; for a query that finds few cases in a
    database of any size.
    """
    is_later = cases.c.id < NEWER.c.id
    return sa.exists().where(is_later, on_same_message(cases, NEWER), _IS_REPEAT)


def on_same_message(one: sa.FromClause, other: sa.FromClause) -> Condition:
    names = ("team_id", "channel_id", "message_ts")
    return sa.and_(*(one.c[name] == other.c[name] for name in names))


_IS_REPEAT = sa.and_(
    NEWER.c.attempt > sa.literal_column("1"), NEWER.c.judged_at.is_not(None), is_shared(NEWER)
)
