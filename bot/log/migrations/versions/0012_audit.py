"""Who forgot, purged, exported or changed settings; whose words a case holds, and that they were to be forgotten."""

import sqlalchemy as sa
from alembic import op

from bot.log.schema import UtcDateTime

revision = "0012"
down_revision = "0011"

_AUTHORS = ("author_id", "question_author_id")


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("channel_id", sa.String(), nullable=True),
        sa.Column("case_id", sa.Integer(), nullable=True),
        sa.Column("user_id", sa.String(), nullable=True),
        sa.Column("cases", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_at", "audit", ["at"])
    op.add_column("cases", sa.Column("question_author_id", sa.String(), nullable=True))
    op.add_column("cases", sa.Column("forgotten_at", UtcDateTime(), nullable=True))
    # Of others it is not known any more: "Score again" took a typed question along.
    typed = "question_source = 'typed' AND (attempt = 1 OR key LIKE 'view:%')"
    op.execute(f"UPDATE cases SET question_author_id = requester_id WHERE {typed}")  # noqa: S608
    for column in _AUTHORS:
        where = sa.text(f"{column} IS NOT NULL")
        name = op.f(f"ix_cases_team_id_{column}")
        op.create_index(name, "cases", ["team_id", column], sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    for column in _AUTHORS:
        op.drop_index(f"ix_cases_team_id_{column}", "cases")
    for column in ("forgotten_at", "question_author_id"):
        op.drop_column("cases", column)
    op.drop_table("audit")
