"""Replies whose asker contradicted their scores, which are drawn more often for blind labels."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.create_table(
        "contradicted",
        sa.Column("team_id", sa.String, primary_key=True),
        sa.Column("case_id", sa.Integer, primary_key=True),
        sa.ForeignKeyConstraint(
            ["team_id", "case_id"],
            ["cases.team_id", "cases.id"],
            name="fk_contradicted_cases",
            ondelete="CASCADE",
            onupdate="CASCADE",
        ),
    )
