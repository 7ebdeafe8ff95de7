"""Verdicts that stand beside an earlier one, and count in no figure."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_FIGURES = (
    *("team_id", "channel_id", "judged_at", "lowest", "highest", "score", "author_id", "requester_id"),
    *("unscored_reason", "model", "input_tokens", "output_tokens", "cost_usd"),
)
_REPEATED = ("team_id", "channel_id", "judged_at", "message_ts", "attempt")
_PUBLIC_COLUMNS = ("visibility", "obstacle", "blocked_by")
_PUBLIC = "visibility = 'thread' AND obstacle IS NULL AND blocked_by IS NULL"


def upgrade() -> None:
    op.add_column("cases", sa.Column("aside", sa.String(), nullable=True))
    _index((*_PUBLIC_COLUMNS, "aside"), f"{_PUBLIC} AND aside IS NULL")


def downgrade() -> None:
    _index(_PUBLIC_COLUMNS, _PUBLIC)
    op.drop_column("cases", "aside")


def _index(columns: tuple[str, ...], counts: str) -> None:
    for name, first, condition in (
        ("ix_cases_figures", _FIGURES, counts),
        ("ix_cases_repeated", _REPEATED, "attempt > 1"),
    ):
        where = sa.text(condition)
        op.drop_index(name, "cases")
        op.create_index(name, "cases", [*first, *columns], sqlite_where=where, postgresql_where=where)
