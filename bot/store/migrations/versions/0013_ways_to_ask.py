"""How a watch asks the judge: those of before as the settings say."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    for table in ("watches", "cases"):
        op.add_column(table, sa.Column("ask", sa.String))
