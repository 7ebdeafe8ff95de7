"""Drops the tables of providers' batches, which hold texts; their cases are scored by requests of their own."""

from alembic import op

revision = "release_0006"
down_revision = "release_0005"


def upgrade() -> None:
    op.drop_table("batch_requests")
    op.drop_table("batches")
