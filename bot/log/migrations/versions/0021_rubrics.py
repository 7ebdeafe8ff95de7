"""Rubrics that are made in channels, by what each channel is scored, and replays before that changes."""

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
    op.create_table(
        "replays",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("channel_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("rubric", sa.String(), nullable=True),
        sa.Column("rubric_version", sa.String(), nullable=True),
        sa.Column("judge_model", sa.String(), nullable=True),
        sa.Column("asked_at", UtcDateTime(), nullable=False),
        sa.Column("told_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_replays")),
        sa.UniqueConstraint("team_id", "channel_id", name=op.f("uq_replays_team_id_channel_id")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "replayed",
        sa.Column("replay_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("score", sa.Integer(), nullable=True),
        sa.Column("judged_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["replay_id"], ["replays.id"], name=op.f("fk_replayed_replays"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["team_id", "case_id"], ["cases.team_id", "cases.id"], name=op.f("fk_replayed_cases"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("replay_id", "case_id", name=op.f("pk_replayed")),
    )
    for name in _CHOSEN:
        op.add_column("channels", sa.Column(name, sa.String(), nullable=True))
    op.drop_column("watches", "rubric")  # the channel's is a watch's, too


def downgrade() -> None:
    op.add_column("watches", sa.Column("rubric", sa.String(), nullable=False, server_default="additive-5"))
    for name in _CHOSEN:
        op.drop_column("channels", name)
    for table in ("replayed", "replays", "rubrics"):
        op.drop_table(table)
