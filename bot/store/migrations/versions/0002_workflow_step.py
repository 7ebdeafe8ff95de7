"""The workflow step goes: its runs, and what was still to be scored for it.

Its scores stay in their threads, in no figure, as if somebody else had asked for them.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_cases = sa.table("cases", *map(sa.column, ("id", "source", "excluded", "status", "message_ts")))
_asked_by_workflow = _cases.c.source == "workflow"


def upgrade() -> None:
    op.drop_table("executions")
    # Nobody is told of their outcome any more.
    is_open = sa.and_(_asked_by_workflow, _cases.c.status != "delivered")
    for name in ("turns", "ratings"):  # SQLite does not check foreign keys meanwhile
        table = sa.table(name, sa.column("case_id"))
        op.execute(
            sa.delete(table).where(table.c.case_id.in_(sa.select(_cases.c.id).where(is_open)))
        )
    op.execute(sa.delete(_cases).where(is_open))
    is_typed = _cases.c.message_ts.is_(None)
    source = sa.case((is_typed, "text"), else_="link")
    op.execute(sa.update(_cases).where(_asked_by_workflow).values(source=source))
    is_excluded = _cases.c.excluded == "workflow"
    op.execute(sa.update(_cases).where(is_excluded).values(excluded="another"))
