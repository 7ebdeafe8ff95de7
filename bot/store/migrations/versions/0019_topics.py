"""What questions are about, as far as it was found out."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "topics",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("team_id", sa.String, nullable=False),
        sa.Column("channel_id", sa.String, nullable=False),
        sa.Column("author_id", sa.String, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("question_ts", sa.String),
        sa.Column("case_id", sa.Integer),
        _following(["team_id", "case_id"], ["cases.team_id", "cases.id"]),
        _following(
            ["team_id", "channel_id", "question_ts"],
            ["seen_messages.team_id", "seen_messages.channel_id", "seen_messages.ts"],
        ),
        sqlite_autoincrement=True,
    )
    of_case = ["team_id", "case_id"]
    op.create_index("ix_topics_team_id_case_id", "topics", of_case, unique=True)
    of_message = ["team_id", "channel_id", "question_ts", "author_id"]
    name = "ix_topics_team_id_channel_id_question_ts_author_id"
    op.create_index(name, "topics", of_message, unique=True)


def _following(columns: Sequence[str], others: Sequence[str]) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(columns, others, ondelete="CASCADE", onupdate="CASCADE")
