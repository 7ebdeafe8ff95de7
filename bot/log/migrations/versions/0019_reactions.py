"""The reaction with which a channel's people ask for a score."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.add_column("channels", sa.Column("score_reaction", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("channels", "score_reaction")
