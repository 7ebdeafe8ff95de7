"""Figures about assistants alone: the index holds no typed texts, and who scored their own reply is a person."""

from alembic import op
from sqlalchemy import text

revision = "release_0008"
down_revision = "release_0007"
_FIGURES = (
    *("team_id", "channel_id", "judged_at", "lowest", "highest", "score", "author_id", "requester_id", "thread_ts"),
    *("unscored_reason", "model", "judge_version", "input_tokens", "output_tokens", "cost_usd", "skipped_ratings"),
    *("unread", "message_ts", "visibility", "blocker", "blocked_by", "excluded", "probability"),
)
_COUNTS = text(
    "message_ts IS NOT NULL AND visibility = 'thread' AND blocker IS NULL AND blocked_by IS NULL AND excluded IS NULL "
    "AND probability IS NULL"
)


def upgrade() -> None:
    op.execute("UPDATE cases SET excluded = 'person' WHERE excluded = 'author'")
    op.drop_index("ix_cases_figures", "cases")
    op.create_index("ix_cases_figures", "cases", [*_FIGURES], sqlite_where=_COUNTS, postgresql_where=_COUNTS)
