"""Releases are marks in the series of an assistant, and how they compare is stored beside standings."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_TIME = sa.DateTime(timezone=True)
_releases = sa.table("releases", *map(sa.column, ("set_at", "day", "announced_at")))


def upgrade() -> None:
    op.add_column("standings", sa.Column("release_id", sa.Integer))
    op.add_column("releases", sa.Column("day", sa.Date))
    op.add_column("releases", sa.Column("taken_back_by", sa.String))
    op.add_column("releases", sa.Column("announced_at", _TIME))
    # Nobody is told of an old one.
    known = {"day": sa.func.date(_releases.c.set_at), "announced_at": _releases.c.set_at}
    op.execute(sa.update(_releases).values(known))
    with op.batch_alter_table("releases", table_kwargs={"sqlite_autoincrement": True}) as table:
        table.alter_column("day", existing_type=sa.Date, nullable=False)
        table.drop_column("needed")
