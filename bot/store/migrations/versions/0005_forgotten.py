"""Who had their words forgotten, and when."""

import sqlalchemy as sa
from alembic import op

from bot.store.tables import UtcDateTime

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "forgotten",
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "user_id", "at", name="pk_forgotten"),
    )
