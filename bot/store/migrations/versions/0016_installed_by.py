"""Of an installation, who made it and in which organisation; states of OAuth by their end."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.add_column("installations", sa.Column("organisation_id", sa.String))
    op.add_column("installations", sa.Column("installed_by", sa.String))
    op.create_index("ix_oauth_states_expires_at", "oauth_states", ["expires_at"])
