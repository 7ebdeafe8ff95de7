"""Steps of workflows, which wait until the case that they asked for has come to its end."""

import sqlalchemy as sa
from alembic import op

from bot.log.schema import UtcDateTime

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.create_table(
        "executions",
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("quotes", sa.Boolean(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("completed_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("team_id", "id", name="pk_executions"),
    )
    waits = sa.text("completed_at IS NULL")
    op.create_index("ix_executions_waiting", "executions", ["case_id"], sqlite_where=waits, postgresql_where=waits)


def downgrade() -> None:
    op.drop_table("executions")
