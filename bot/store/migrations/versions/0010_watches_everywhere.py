"""Watches of all public channels: an order without a channel, and the watches that follow from it."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    derived = sa.Column("is_derived", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("watches", derived)
    op.add_column("watches", sa.Column("except_in", sa.String))
