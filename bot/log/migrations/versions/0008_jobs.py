"""Jobs instead of leases: attempts have names, failures of Slack, model and app are counted apart."""

import sqlalchemy as sa
from alembic import op

from bot.log.schema import UtcDateTime

revision = "0008"
down_revision = "0007"

_UNSETTLED = sa.text("status != 'delivered'")


def upgrade() -> None:
    op.alter_column("cases", "tries", new_column_name="slack_tries")
    op.add_column("cases", sa.Column("opened", sa.Integer(), nullable=False, server_default="1"))
    op.add_column("cases", sa.Column("model_tries", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("cases", sa.Column("faults", sa.Integer(), nullable=False, server_default="0"))
    op.drop_column("cases", "due_at")
    _index_unsettled("team_id", "channel_id", "status")
    op.execute("UPDATE cases SET slack_tries = 0, holder = NULL")
    op.execute("DELETE FROM processes")


def downgrade() -> None:
    _index_unsettled("status")
    op.add_column("cases", sa.Column("due_at", UtcDateTime(), nullable=True))
    for column in ("faults", "model_tries", "opened"):
        op.drop_column("cases", column)
    op.alter_column("cases", "slack_tries", new_column_name="tries")


def _index_unsettled(*columns: str) -> None:
    op.drop_index("ix_cases_unsettled", "cases")
    op.create_index("ix_cases_unsettled", "cases", list(columns), sqlite_where=_UNSETTLED, postgresql_where=_UNSETTLED)
