"""What becomes of a scored message: edited, deleted, forgotten; and the indexes to find its cases and old ones by."""

import sqlalchemy as sa
from alembic import op

from bot.log.schema import UtcDateTime

revision = "0006"
down_revision = "0005"

_STALE = sa.text("is_stale")
_QUESTION = sa.text("question_ts IS NOT NULL")
_THREAD = sa.text("thread_ts IS NOT NULL")


def upgrade() -> None:
    op.add_column("cases", sa.Column("question_ts", sa.String(), nullable=True))
    op.add_column("cases", sa.Column("edited_at", UtcDateTime(), nullable=True))
    op.add_column("cases", sa.Column("deleted_at", UtcDateTime(), nullable=True))
    op.add_column("cases", sa.Column("is_stale", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.execute("UPDATE cases SET question_ts = parent_ts WHERE question_source = 'parent'")
    op.create_index("ix_cases_created_at", "cases", ["created_at"])
    op.create_index("ix_cases_stale", "cases", ["id"], sqlite_where=_STALE, postgresql_where=_STALE)
    for column, condition in (("question_ts", _QUESTION), ("thread_ts", _THREAD)):
        name = op.f(f"ix_cases_team_id_channel_id_{column}")
        columns = ["team_id", "channel_id", column]
        op.create_index(name, "cases", columns, sqlite_where=condition, postgresql_where=condition)


def downgrade() -> None:
    for name in ("team_id_channel_id_thread_ts", "team_id_channel_id_question_ts", "stale", "created_at"):
        op.drop_index(f"ix_cases_{name}", "cases")
    for column in ("is_stale", "deleted_at", "edited_at", "question_ts"):
        op.drop_column("cases", column)
