"""What cases have used that were forgotten on the same day, so that forgetting makes no room for new ones."""

import sqlalchemy as sa
from alembic import op

from bot.log.schema import UtcDateTime

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "spent",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("requester_id", sa.String(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_spent")),
    )
    op.create_index("ix_spent_created_at", "spent", ["created_at"])


def downgrade() -> None:
    op.drop_table("spent")
