"""Adds the name of the model that answered to each rating."""

import sqlalchemy as sa
from alembic import op

revision = "release_0011"
down_revision = "release_0010"


def upgrade() -> None:
    op.add_column("ratings", sa.Column("served", sa.String))
