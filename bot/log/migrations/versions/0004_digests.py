"""What the digest needs: since when a channel has one, whether people are ranked, and an index for its figures."""

import sqlalchemy as sa
from alembic import op

from bot.log.schema import UtcDateTime

revision = "0004"
down_revision = "0003"

# The columns that the figures are made of, so that they come from the index alone.
_PUBLIC_COLUMNS = ("visibility", "obstacle", "blocked_by")
_FIGURES = [
    *("team_id", "channel_id", "judged_at", "lowest", "highest", "score", "author_id", "requester_id"),
    *("unscored_reason", "model", "input_tokens", "output_tokens", "cost_usd"),
    *_PUBLIC_COLUMNS,
]
_PUBLIC = sa.text("visibility = 'thread' AND obstacle IS NULL AND blocked_by IS NULL")
_REPEATED = sa.text("attempt > 1")


def upgrade() -> None:
    op.add_column("channels", sa.Column("digest_since", UtcDateTime(), nullable=True))
    op.add_column("channels", sa.Column("ranks_people", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("labels", sa.Column("channel_id", sa.String(), nullable=False, server_default=""))
    op.execute(
        "UPDATE labels SET channel_id = (SELECT channel_id FROM cases "
        "WHERE cases.team_id = labels.team_id AND cases.id = labels.case_id)"
    )
    op.create_index("ix_labels_figures", "labels", ["team_id", "channel_id", "case_id", "score"])
    op.create_index("ix_cases_figures", "cases", _FIGURES, sqlite_where=_PUBLIC, postgresql_where=_PUBLIC)
    op.create_index(
        "ix_cases_repeated",
        "cases",
        ["team_id", "channel_id", "judged_at", "message_ts", "attempt", *_PUBLIC_COLUMNS],
        sqlite_where=_REPEATED,
        postgresql_where=_REPEATED,
    )


def downgrade() -> None:
    op.drop_index("ix_cases_repeated", "cases")
    op.drop_index("ix_cases_figures", "cases")
    op.drop_index("ix_labels_figures", "labels")
    op.drop_column("labels", "channel_id")
    op.drop_column("channels", "ranks_people")
    op.drop_column("channels", "digest_since")
