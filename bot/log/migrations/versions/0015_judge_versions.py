"""All that makes scores comparable, in words: figures of two judge versions are never joined."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

_BEFORE = (
    *("team_id", "channel_id", "judged_at", "lowest", "highest", "score", "author_id", "requester_id"),
    *("unscored_reason", "model", "input_tokens", "output_tokens", "cost_usd"),
    *("visibility", "obstacle", "blocked_by", "aside"),
)
_AFTER = (*_BEFORE[:10], "judge_version", *_BEFORE[10:])
_COUNTS = "visibility = 'thread' AND obstacle IS NULL AND blocked_by IS NULL AND aside IS NULL"


def upgrade() -> None:
    op.add_column("cases", sa.Column("judge_version", sa.String(), nullable=True))
    # As `Judge.version` says it of a judge with the usual number of samples; of these nobody had a note.
    words = "model || ', ' || rubric || ' ' || rubric_version"
    op.execute(f"UPDATE cases SET judge_version = {words} WHERE score IS NOT NULL")  # noqa: S608
    _index(_AFTER)


def downgrade() -> None:
    _index(_BEFORE)
    op.drop_column("cases", "judge_version")


def _index(columns: tuple[str, ...]) -> None:
    where = sa.text(_COUNTS)
    op.drop_index("ix_cases_figures", "cases")
    op.create_index("ix_cases_figures", "cases", list(columns), sqlite_where=where, postgresql_where=where)
