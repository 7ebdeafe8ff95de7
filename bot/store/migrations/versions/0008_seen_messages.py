"""Messages of watched channels, without words, and signs in their threads: what came of questions."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "seen_messages",
        sa.Column("team_id", sa.String, primary_key=True),
        sa.Column("channel_id", sa.String, primary_key=True),
        sa.Column("ts", sa.String, primary_key=True),
        sa.Column("thread_ts", sa.String, nullable=False),
        sa.Column("author_id", sa.String, nullable=False),
        sa.Column("says", sa.String, nullable=False),
        sa.Column("is_app", sa.Boolean, nullable=False),
        sa.Column("text_hash", sa.String),
        sa.Column("mentions", sa.String),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
    )
    op.create_index("ix_seen_messages_team_id_author_id", "seen_messages", ["team_id", "author_id"])
    op.create_table(
        "thread_signs",
        sa.Column("team_id", sa.String, primary_key=True),
        sa.Column("channel_id", sa.String, primary_key=True),
        sa.Column("thread_ts", sa.String, primary_key=True),
        sa.Column("author_id", sa.String, primary_key=True),
        sa.Column("last_ts", sa.String, nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        *(sa.Column(name, sa.Boolean) for name in ("confirmed", "thanked")),
        *(sa.Column(name, sa.Boolean) for name in ("contested", "handed_over")),
    )
    op.create_index("ix_thread_signs_team_id_asked_at", "thread_signs", ["team_id", "asked_at"])
