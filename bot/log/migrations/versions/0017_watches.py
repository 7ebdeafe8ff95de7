"""Watches, the replies that they have seen, and which cases they drew; those are in figures of their own."""

import sqlalchemy as sa
from alembic import op

from bot.log.schema import UtcDateTime

revision = "0017"
down_revision = "0016"

_FIGURES = (
    *("team_id", "channel_id", "judged_at", "lowest", "highest", "score", "author_id", "requester_id"),
    *("unscored_reason", "model", "judge_version", "input_tokens", "output_tokens", "cost_usd", "spared"),
)
_REPEATED = ("team_id", "channel_id", "judged_at", "message_ts", "attempt")
_PUBLIC_COLUMNS = ("visibility", "obstacle", "blocked_by", "aside")
_PUBLIC = "visibility = 'thread' AND obstacle IS NULL AND blocked_by IS NULL AND aside IS NULL"


def upgrade() -> None:
    op.add_column("cases", sa.Column("probability", sa.Float(), nullable=True))
    op.add_column("cases", sa.Column("shows", sa.String(), nullable=True))
    for name in ("ix_cases_figures", "ix_cases_repeated"):
        op.drop_index(name, "cases")
    columns = (*_PUBLIC_COLUMNS, "probability")
    _index("ix_cases_figures", (*_FIGURES, *columns), f"{_PUBLIC} AND probability IS NULL")
    _index("ix_cases_repeated", (*_REPEATED, *columns), "attempt > 1")
    _index("ix_cases_watched", (*_FIGURES, "thread_ts", "probability"), "probability IS NOT NULL")
    op.create_table(
        "watches",
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("channel_id", sa.String(), nullable=False),
        sa.Column("author_id", sa.String(), nullable=False),
        sa.Column("rubric", sa.String(), nullable=False),
        sa.Column("share", sa.Float(), nullable=False),
        sa.Column("per_day", sa.Integer(), nullable=False),
        sa.Column("shows", sa.String(), nullable=False),
        sa.Column("alerts_to", sa.String(), nullable=True),
        sa.Column("since", UtcDateTime(), nullable=False),
        sa.Column("looked_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "channel_id", "author_id", name="pk_watches"),
    )
    op.create_table(
        "replies",
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("channel_id", sa.String(), nullable=False),
        sa.Column("ts", sa.String(), nullable=False),
        sa.Column("author_id", sa.String(), nullable=False),
        sa.Column("parent_ts", sa.String(), nullable=True),
        sa.Column("probability", sa.Float(), nullable=False),
        sa.Column("fate", sa.String(), nullable=True),
        sa.Column("text_hash", sa.String(), nullable=True),
        sa.Column("rests_at", UtcDateTime(), nullable=False),
        sa.Column("day", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "channel_id", "ts", name="pk_replies"),
    )
    op.create_table(
        "alerts",
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("channel_id", sa.String(), nullable=False),
        sa.Column("author_id", sa.String(), nullable=False),
        sa.Column("day", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("claimed_at", UtcDateTime(), nullable=False),
        sa.Column("posted_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("team_id", "channel_id", "author_id", "day", name="pk_alerts"),
    )
    waits = sa.text("fate IS NULL")
    op.create_index(
        "ix_replies_waiting", "replies", ["team_id", "rests_at"], sqlite_where=waits, postgresql_where=waits
    )
    op.create_index("ix_replies_figures", "replies", ["team_id", "channel_id", "author_id", "day", "fate"])


def downgrade() -> None:
    op.drop_table("alerts")
    op.drop_table("replies")
    op.drop_table("watches")
    # Verdicts that nobody asked for would stand among those that people chose.
    op.execute("DELETE FROM cases WHERE probability IS NOT NULL")
    for name in ("ix_cases_watched", "ix_cases_figures", "ix_cases_repeated"):
        op.drop_index(name, "cases")
    _index("ix_cases_figures", (*_FIGURES, *_PUBLIC_COLUMNS), _PUBLIC)
    _index("ix_cases_repeated", (*_REPEATED, *_PUBLIC_COLUMNS), "attempt > 1")
    for column in ("shows", "probability"):
        op.drop_column("cases", column)


def _index(name: str, columns: tuple[str, ...], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, "cases", list(columns), sqlite_where=where, postgresql_where=where)
