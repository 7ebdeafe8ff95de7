"""Which verdicts are in figures and exports: what a whole channel could see, and of each reply the
newest.

Figures are about replies, so typed texts are in exports alone. Excluded verdicts do not count (see
`Exclusion`), and what a watch has drawn is counted separately.
"""

from collections.abc import Iterable
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
        # Two queries rather than one with OR, so that each uses its index.
        of_texts = _older_than_newer(_on_same_texts(_OLDER, NEWER), newer)
        is_older = cases.c.id.in_(superseded(*newer).union_all(of_texts))
        return sa.and_(is_shared(cases), ~is_older)
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
    return _older_than_newer(on_same_message(_OLDER, NEWER), conditions)


def is_superseded() -> Condition:
    """Whether a case's message, or the thread that its typed texts began (`same_reply`), has a
    newer shared verdict; for a query that finds few cases in a database of any size.
    """
    ways = on_same_message(cases, NEWER), _on_same_texts(cases, NEWER)
    is_later = cases.c.id < NEWER.c.id
    return sa.or_(*(sa.exists().where(is_later, each, _IS_REPEAT) for each in ways))


def on_same_message(one: sa.FromClause, other: sa.FromClause) -> Condition:
    return _are_equal(one, other, "team_id", "channel_id", "message_ts")


def _on_same_texts(one: sa.FromClause, other: sa.FromClause) -> Condition:
    is_typed = sa.and_(one.c.message_ts.is_(None), other.c.message_ts.is_(None))
    return sa.and_(is_typed, _are_equal(one, other, "team_id", "channel_id", "thread_ts"))


def _are_equal(one: sa.FromClause, other: sa.FromClause, *names: str) -> Condition:
    return sa.and_(*(one.c[name] == other.c[name] for name in names))


def _older_than_newer(is_same: Condition, conditions: Iterable[Condition]) -> sa.Select[tuple[int]]:
    return (
        sa.select(_OLDER.c.id)
        .join(NEWER, sa.and_(_OLDER.c.id < NEWER.c.id, is_same))
        .where(_IS_REPEAT, *conditions)
    )


_IS_REPEAT = sa.and_(
    NEWER.c.attempt > sa.literal_column("1"), NEWER.c.judged_at.is_not(None), is_shared(NEWER)
)
