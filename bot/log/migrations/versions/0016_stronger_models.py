"""Verdicts of a stronger model, and ratings that no score depended on; the latter are in the digest, and so indexed."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

_FIGURES = (
    *("team_id", "channel_id", "judged_at", "lowest", "highest", "score", "author_id", "requester_id"),
    *("unscored_reason", "model", "judge_version", "input_tokens", "output_tokens", "cost_usd"),
)
_PUBLIC_COLUMNS = ("visibility", "obstacle", "blocked_by", "aside")
_PUBLIC = "visibility = 'thread' AND obstacle IS NULL AND blocked_by IS NULL AND aside IS NULL"


def upgrade() -> None:
    op.add_column("cases", sa.Column("escalation", sa.String(), nullable=True))
    op.add_column("cases", sa.Column("spared", sa.Integer(), nullable=True))
    _index((*_FIGURES, "spared"))


def downgrade() -> None:
    _index(_FIGURES)
    for column in ("spared", "escalation"):
        op.drop_column("cases", column)


def _index(columns: tuple[str, ...]) -> None:
    where = sa.text(_PUBLIC)
    op.drop_index("ix_cases_figures", "cases")
    op.create_index(
        "ix_cases_figures", "cases", [*columns, *_PUBLIC_COLUMNS], sqlite_where=where, postgresql_where=where
    )
