"""When a test alert of a watch was sent last."""

import sqlalchemy as sa
from alembic import op

from bot.log.schema import UtcDateTime

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.add_column("watches", sa.Column("tested_at", UtcDateTime(), nullable=True))


def downgrade() -> None:
    op.drop_column("watches", "tested_at")
