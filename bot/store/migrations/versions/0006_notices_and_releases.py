"""Adds alerts about single low replies, what each recipient was told of a watch, and releases of assistants."""

import sqlalchemy as sa
from alembic import op

revision = "release_0010"
down_revision = "release_0009"
_NOTICE = ("team_id", "channel_id", "author_id", "name", "recipient")
_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("watches", sa.Column("low_since", _TIME))
    key = sa.PrimaryKeyConstraint(*_NOTICE, name="pk_notices")
    times = sa.Column("claimed_at", _TIME, nullable=False), sa.Column("posted_at", _TIME)
    op.create_table("notices", *(sa.Column(each, sa.String, nullable=False) for each in (*_NOTICE, "day")), *times, key)
    op.create_table(
        "releases",
        sa.Column("id", sa.Integer, autoincrement=True),
        *(sa.Column(each, sa.String, nullable=False) for each in ("team_id", "channel_id", "author_id", "set_by")),
        sa.Column("set_at", _TIME, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("needed", sa.Integer, nullable=False),
        sa.Column("taken_back_at", _TIME),
        sa.PrimaryKeyConstraint("id", name="pk_releases"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_releases_team_id_channel_id", "releases", ["team_id", "channel_id"])
