"""Labels given before the judge's score was shown: which cases were drawn for whom, and with what probability."""

import sqlalchemy as sa
from alembic import op

from bot.log.schema import UtcDateTime

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "draws",
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("probability", sa.Float(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("drawn_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["team_id", "case_id"], ["cases.team_id", "cases.id"], name=op.f("fk_draws_cases"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("team_id", "case_id", "user_id", name=op.f("pk_draws")),
    )
    op.add_column("labels", sa.Column("is_blind", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("labels", sa.Column("probability", sa.Float(), nullable=True))
    op.add_column("channels", sa.Column("labels_per_week", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("channels", "labels_per_week")
    for column in ("probability", "is_blind"):
        op.drop_column("labels", column)
    op.drop_table("draws")
