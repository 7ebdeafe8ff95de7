"""How a watch asks the judge: those of before as the settings say."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.add_column("watches", sa.Column("ask", sa.String))
    op.add_column("cases", sa.Column("way", sa.String))
