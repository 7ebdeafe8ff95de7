"""Scores of a replay by judge version, so that both judges can be asked; a replay that is under way asks anew."""

import sqlalchemy as sa
from alembic import op

from bot.log.schema import UtcDateTime

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.create_table(
        "replay_scores",
        sa.Column("replay_id", sa.Integer(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("judge_version", sa.String(), nullable=False),
        sa.Column("score", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["replay_id", "case_id"],
            ["replayed.replay_id", "replayed.case_id"],
            name=op.f("fk_replay_scores_replayed"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("replay_id", "case_id", "judge_version", name=op.f("pk_replay_scores")),
    )
    op.drop_column("replayed", "score")
    op.drop_column("replayed", "judged_at")


def downgrade() -> None:
    op.add_column("replayed", sa.Column("score", sa.Integer(), nullable=True))
    op.add_column("replayed", sa.Column("judged_at", UtcDateTime(), nullable=True))
    op.drop_table("replay_scores")
