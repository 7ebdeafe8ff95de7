"""People take turns within a channel, so that the open cases of each are counted."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_UNSETTLED = sa.text("status != 'delivered'")


def upgrade() -> None:
    _index("team_id", "channel_id", "requester_id", "status")


def downgrade() -> None:
    _index("team_id", "channel_id", "status")


def _index(*columns: str) -> None:
    op.drop_index("ix_cases_unsettled", "cases")
    op.create_index("ix_cases_unsettled", "cases", list(columns), sqlite_where=_UNSETTLED, postgresql_where=_UNSETTLED)
