"""The reaction with which a channel's people ask for a score; thumbs under replies."""

import sqlalchemy as sa
from alembic import op

from bot.log.schema import UtcDateTime

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.add_column("channels", sa.Column("score_reaction", sa.String(), nullable=True))
    op.create_table(
        "thumbs",
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("channel_id", sa.String(), nullable=False),
        sa.Column("ts", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("is_up", sa.Boolean(), nullable=False),
        sa.Column("is_given", sa.Boolean(), nullable=False),
        sa.Column("changed_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "channel_id", "ts", "user_id", "is_up", name="pk_thumbs"),
    )
    op.create_index("ix_thumbs_team_id_user_id", "thumbs", ["team_id", "user_id"])
    taken_back = sa.text("NOT is_given")
    op.create_index(
        "ix_thumbs_taken_back", "thumbs", ["changed_at"], sqlite_where=taken_back, postgresql_where=taken_back
    )


def downgrade() -> None:
    op.drop_table("thumbs")
    op.drop_column("channels", "score_reaction")
