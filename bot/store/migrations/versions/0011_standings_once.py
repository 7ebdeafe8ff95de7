"""Each change of a standing follows on one row, and the effect of a release is stored once."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_effects = sa.table("standings", sa.column("id"), sa.column("release_id"))
_INDEX = "ix_standings_team_id_channel_id_author_id"


def upgrade() -> None:
    # Earlier rows follow on none: what they hold is not found again.
    op.add_column("standings", sa.Column("follows", sa.Integer))
    # Of an effect that two processes have stored, the first one stays.
    same = _effects.alias()
    first = sa.select(sa.func.min(same.c.id)).group_by(same.c.release_id)
    is_repeated = _effects.c.release_id.is_not(None), _effects.c.id.not_in(first)
    op.execute(sa.delete(_effects).where(*is_repeated))
    op.drop_index(_INDEX, "standings")
    subject = "team_id", "channel_id", "author_id"
    op.create_index(f"{_INDEX}_follows", "standings", [*subject, "follows"], unique=True)
    op.create_index("ix_standings_release_id", "standings", ["release_id"], unique=True)
