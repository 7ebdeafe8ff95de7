"""Rubrics that are made in channels, and by what each channel is scored."""

import sqlalchemy as sa
from alembic import op

from bot.log.schema import UtcDateTime

revision = "0021"
down_revision = "0020"

_CHOSEN = ("rubric", "rubric_version", "judge_model")


def upgrade() -> None:
    op.create_table(
        "rubrics",
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("channel_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=False),
        sa.Column("saved_by", sa.String(), nullable=False),
        sa.Column("saved_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "channel_id", "name", "number", name=op.f("pk_rubrics")),
    )
    for name in _CHOSEN:
        op.add_column("channels", sa.Column(name, sa.String(), nullable=True))


def downgrade() -> None:
    for name in _CHOSEN:
        op.drop_column("channels", name)
    op.drop_table("rubrics")
