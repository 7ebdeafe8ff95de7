"""The statements that bring a case forward, built once: that takes SQLAlchemy longer than SQLite takes to do them."""

from typing import Any

from sqlalchemy import ColumnElement, TextClause, UpdateBase, and_, bindparam, insert, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.log.schema import IS_OPEN, cases
from bot.log.unsettled import counts_beside


class TakenError(Exception):
    """Another attempt settles the case now, or it has gone on without us; ours must stop."""


def _of_case(holder: ColumnElement[bool], status: ColumnElement[bool] | TextClause) -> UpdateBase:
    """Changes the case `case_id` that is so held and in such a status; the values are given when it is executed."""
    return update(cases).where(cases.c.id == bindparam("case_id"), status, holder).returning(cases.c.is_stale)


_HELD = cases.c.holder == bindparam("held_by")
# The names are those of the methods of `Store` that execute them.
_AS_SEEN = and_(
    cases.c.holder.is_not_distinct_from(bindparam("seen_holder")), cases.c.status == bindparam("seen_status")
)
CLAIM = _of_case(_AS_SEEN, IS_OPEN)
STEP = _of_case(_HELD, IS_OPEN)
RECORD = _of_case(_HELD, cases.c.status == literal_column("'received'"))
FINISH = _of_case(_HELD, cases.c.status == literal_column("'judged'"))
OPEN_CASE = select(cases).where(cases.c.id == bindparam("case_id"), IS_OPEN)
ADD = insert(cases).returning(cases.c.id, *counts_beside())


async def change(connection: AsyncConnection, statement: UpdateBase, values: dict[str, Any]) -> bool:
    """Changes the row of a case that is as the statement expects, and says whether its verdict is stale.

    Raises:
        TakenError: It is not.
    """
    row = (await connection.execute(statement, values)).one_or_none()
    if row is None:
        raise TakenError(f"case {values['case_id']}")
    return bool(row.is_stale)
