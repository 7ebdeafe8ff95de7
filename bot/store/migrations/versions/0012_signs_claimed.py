"""A thread's signs are claimed before a model is asked, so that two processes do not both pay."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("thread_signs", sa.Column("held_until", sa.DateTime(timezone=True)))
