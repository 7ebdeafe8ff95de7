"""Each change of a standing follows on one row, and the effect of a release is stored once."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_SUBJECT = ["team_id", "channel_id", "author_id"]
_names = ("id", "release_id", "follows", *_SUBJECT)
_standings = sa.table("standings", *map(sa.column, _names))
_INDEX = "ix_standings_team_id_channel_id_author_id"


def upgrade() -> None:
    op.add_column("standings", sa.Column("follows", sa.Integer))
    earlier = _standings.alias()
    is_before = (
        *(earlier.c[name] == _standings.c[name] for name in _SUBJECT),
        earlier.c.release_id.is_(None),
        earlier.c.id < _standings.c.id,
    )
    before = sa.select(sa.func.max(earlier.c.id)).where(*is_before).scalar_subquery()
    is_standing = _standings.c.release_id.is_(None)
    follows = sa.func.coalesce(before, 0)
    op.execute(sa.update(_standings).where(is_standing).values(follows=follows))
    # Of an effect that two processes have stored, the first one stays.
    first = sa.select(sa.func.min(earlier.c.id)).group_by(earlier.c.release_id)
    op.execute(sa.delete(_standings).where(~is_standing, _standings.c.id.not_in(first)))
    op.drop_index(_INDEX, "standings")
    op.create_index(f"{_INDEX}_follows", "standings", [*_SUBJECT, "follows"], unique=True)
    op.create_index("ix_standings_release_id", "standings", ["release_id"], unique=True)
