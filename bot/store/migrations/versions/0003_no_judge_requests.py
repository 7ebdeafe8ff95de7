"""Drops what comparisons of judges and searches for better rubrics remembered."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.drop_table("align_records")
    op.drop_table("judge_requests")
