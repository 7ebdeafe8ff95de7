"""The mean that a channel wishes for, and the tokens that its watches may take; several people may hear of a watch."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.add_column("watches", sa.Column("floor", sa.Float(), nullable=True))
    op.add_column("channels", sa.Column("watch_tokens_per_day", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("channels", "watch_tokens_per_day")
    op.drop_column("watches", "floor")
    # Before, one alone could hear.
    op.execute("UPDATE watches SET alerts_to = NULL WHERE alerts_to LIKE '%,%'")
