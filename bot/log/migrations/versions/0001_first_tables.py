"""The first tables: cases, ratings, labels, channels, digests."""

import sqlalchemy as sa
from alembic import op

from bot.log.schema import UtcDateTime

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "cases",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("channel_id", sa.String(), nullable=False),
        sa.Column("requester_id", sa.String(), nullable=False),
        sa.Column("requester_name", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("rubric", sa.String(), nullable=False),
        sa.Column("visibility", sa.String(), nullable=False),
        sa.Column("message_ts", sa.String(), nullable=True),
        sa.Column("parent_ts", sa.String(), nullable=True),
        sa.Column("author_id", sa.String(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("question", sa.Text(), nullable=True),
        sa.Column("question_source", sa.String(), nullable=True),
        sa.Column("question_hash", sa.String(), nullable=True),
        sa.Column("response", sa.Text(), nullable=True),
        sa.Column("response_hash", sa.String(), nullable=True),
        sa.Column("obstacle", sa.Text(), nullable=True),
        sa.Column("response_url", sa.Text(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("thread_ts", sa.String(), nullable=True),
        sa.Column("reply_ts", sa.String(), nullable=True),
        sa.Column("thread_intent", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("reply_intent", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("blocked_by", sa.String(), nullable=True),
        sa.Column("score", sa.Integer(), nullable=True),
        sa.Column("lowest", sa.Integer(), nullable=True),
        sa.Column("highest", sa.Integer(), nullable=True),
        sa.Column("mean", sa.Float(), nullable=True),
        sa.Column("spread", sa.Float(), nullable=True),
        sa.Column("justification", sa.Text(), nullable=True),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("rubric_version", sa.String(), nullable=True),
        sa.Column("unscored_reason", sa.String(), nullable=True),
        sa.Column("unscored_detail", sa.Text(), nullable=True),
        sa.Column("input_tokens", sa.Integer(), nullable=True),
        sa.Column("output_tokens", sa.Integer(), nullable=True),
        sa.Column("latency_ms", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("judged_at", UtcDateTime(), nullable=True),
        sa.Column("delivered_at", UtcDateTime(), nullable=True),
        sa.CheckConstraint("score IS NULL OR unscored_reason IS NULL", name=op.f("ck_cases_scored_or_not")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cases")),
        sa.UniqueConstraint("team_id", "id", name=op.f("uq_cases_team_id_id")),
        sa.UniqueConstraint("team_id", "key", name=op.f("uq_cases_team_id_key")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_cases_team_id_channel_id_judged_at", "cases", ["team_id", "channel_id", "judged_at"])
    op.create_index("ix_cases_team_id_channel_id_message_ts", "cases", ["team_id", "channel_id", "message_ts"])
    unsettled = sa.text("status != 'delivered'")
    op.create_index("ix_cases_unsettled", "cases", ["status"], sqlite_where=unsettled, postgresql_where=unsettled)
    op.create_table(
        "channels",
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("channel_id", sa.String(), nullable=False),
        sa.Column("is_digest_on", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("digest_day", sa.String(), nullable=True),
        sa.Column("digest_time", sa.String(), nullable=True),
        sa.Column("digest_tz", sa.String(), nullable=True),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "channel_id", name=op.f("pk_channels")),
    )
    op.create_table(
        "digests",
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("channel_id", sa.String(), nullable=False),
        sa.Column("week", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("claimed_at", UtcDateTime(), nullable=False),
        sa.Column("posted_at", UtcDateTime(), nullable=True),
        sa.Column("message_ts", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("team_id", "channel_id", "week", name=op.f("pk_digests")),
    )
    op.create_table(
        "labels",
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("score", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["team_id", "case_id"],
            ["cases.team_id", "cases.id"],
            name=op.f("fk_labels_cases"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("team_id", "case_id", "user_id", name=op.f("pk_labels")),
    )
    op.create_table(
        "ratings",
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("score", sa.Integer(), nullable=True),
        sa.Column("unscored_reason", sa.String(), nullable=True),
        sa.Column("justification", sa.Text(), nullable=False),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("input_tokens", sa.Integer(), nullable=True),
        sa.Column("output_tokens", sa.Integer(), nullable=True),
        sa.Column("latency_ms", sa.Integer(), nullable=True),
        sa.CheckConstraint("(score IS NULL) <> (unscored_reason IS NULL)", name=op.f("ck_ratings_scored_or_not")),
        sa.ForeignKeyConstraint(
            ["team_id", "case_id"],
            ["cases.team_id", "cases.id"],
            name=op.f("fk_ratings_cases"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("team_id", "case_id", "position", name=op.f("pk_ratings")),
    )


def downgrade() -> None:
    op.drop_table("ratings")
    op.drop_table("labels")
    op.drop_table("digests")
    op.drop_table("channels")
    op.drop_table("cases")
