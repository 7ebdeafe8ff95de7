"""Limits count cases, not tokens: nothing is reserved for a case, or kept of one that is gone."""

from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.drop_column("cases", "reserved_tokens")
    op.drop_column("spent", "tokens")
