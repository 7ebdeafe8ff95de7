"""What is set aside of a day's tokens until it is known what a case took."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("cases", sa.Column("reserved_tokens", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("cases", "reserved_tokens")
