"""What else a verdict may carry: flags, the score weighted by probabilities, and what it cost."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("cases", sa.Column("flags", sa.JSON(), nullable=False, server_default="[]"))
    op.add_column("cases", sa.Column("weighted_score", sa.Float(), nullable=True))
    op.add_column("cases", sa.Column("cost_usd", sa.Float(), nullable=True))
    op.add_column("ratings", sa.Column("weighted_score", sa.Float(), nullable=True))
    op.add_column("ratings", sa.Column("cost_usd", sa.Float(), nullable=True))


def downgrade() -> None:
    for table, column in (
        ("ratings", "cost_usd"),
        ("ratings", "weighted_score"),
        ("cases", "cost_usd"),
        ("cases", "weighted_score"),
        ("cases", "flags"),
    ):
        op.drop_column(table, column)
