"""Standings of assistants, and which watched channels are private."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "standings",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("team_id", sa.String, nullable=False),
        sa.Column("channel_id", sa.String, nullable=False),
        sa.Column("author_id", sa.String, nullable=False),
        sa.Column("direction", sa.String, nullable=False),
        sa.Column("lowest", sa.Integer, nullable=False),
        sa.Column("highest", sa.Integer, nullable=False),
        sa.Column("stored_at", _TIME, nullable=False),
        sa.Column("looked_at", _TIME, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("asked", sa.Integer, nullable=False),
        sa.Column("why", sa.String, nullable=False, server_default=""),
        sa.Column("questions", sa.String, nullable=False, server_default=""),
        *(sa.Column(name, sa.String) for name in ("version", "event", "whose", "ended")),
        sa.Column("is_to_tell", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("told_at", _TIME),
        *(sa.Column(name, sa.Date) for name in ("since", "begun_on", "found_on", "origin")),
        *(sa.Column(name, sa.Float) for name in ("level", "level_low", "level_high", "before")),
        *(sa.Column(name, sa.Float) for name in ("step", "step_low", "step_high")),
        *(sa.Column(name, sa.Float) for name in ("judge_step", "judge_low", "judge_high")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_standings_team_id_channel_id_author_id",
        "standings",
        ["team_id", "channel_id", "author_id"],
    )
    private = sa.Column("is_private", sa.Boolean, nullable=False, server_default=sa.true())
    op.add_column("watches", private)
