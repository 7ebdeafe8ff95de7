"""What a workspace has used within a day is asked for with every case."""

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_index(op.f("ix_cases_team_id_judged_at"), "cases", ["team_id", "judged_at"])


def downgrade() -> None:
    op.drop_index(op.f("ix_cases_team_id_judged_at"), "cases")
