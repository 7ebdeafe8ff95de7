"""Nothing asks on which day the step of a standing was found."""

from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    with op.batch_alter_table("standings", table_kwargs={"sqlite_autoincrement": True}) as table:
        table.drop_column("found_on")
