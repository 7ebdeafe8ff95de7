"""What people have chosen for themselves."""

import sqlalchemy as sa
from alembic import op

from bot.log.schema import UtcDateTime

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "people",
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("visibility", sa.String(), nullable=True),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "user_id", name=op.f("pk_people")),
    )


def downgrade() -> None:
    op.drop_table("people")
