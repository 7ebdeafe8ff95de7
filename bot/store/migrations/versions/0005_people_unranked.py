"""Drops the setting that listed people beside bots, because no figure counts people's replies."""

from alembic import op

revision = "release_0009"
down_revision = "release_0008"


def upgrade() -> None:
    op.drop_column("channels", "ranks_people")
