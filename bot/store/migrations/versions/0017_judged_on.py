"""The day of the newest score of a standing; the next look writes it."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.add_column("standings", sa.Column("judged_on", sa.Date))
