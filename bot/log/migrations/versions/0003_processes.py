"""Who settles which case, and when it is due again: processes, and cases held by them."""

import sqlalchemy as sa
from alembic import op

from bot.log.schema import UtcDateTime

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "processes",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("is_connected", sa.Boolean(), nullable=False),
        sa.Column("started_at", UtcDateTime(), nullable=False),
        sa.Column("seen_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_processes")),
    )
    op.add_column("cases", sa.Column("holder", sa.String(), nullable=True))
    op.add_column("cases", sa.Column("tries", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("cases", sa.Column("due_at", UtcDateTime(), nullable=True))
    op.create_index(
        op.f("ix_cases_team_id_requester_id_created_at"), "cases", ["team_id", "requester_id", "created_at"]
    )


def downgrade() -> None:
    op.drop_index(op.f("ix_cases_team_id_requester_id_created_at"), "cases")
    for column in ("due_at", "tries", "holder"):
        op.drop_column("cases", column)
    op.drop_table("processes")
