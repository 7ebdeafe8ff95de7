"""Which judge scores is remembered by a standing alone."""

from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.drop_column("watches", "judge_version")
