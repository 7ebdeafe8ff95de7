"""The tables of 0.1.0."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from bot.store.schema import UtcDateTime

revision = "release_0001"  # "0001" to "0023" were those from before the release
down_revision = None


def upgrade() -> None:
    op.create_table(
        "cases",
        *_columns(sa.Integer, "id attempt", nullable=False),
        *_columns(
            sa.String,
            "team_id key channel_id requester_id requester_name source rubric visibility status",
            nullable=False,
        ),
        *_columns(
            sa.String,
            "message_ts parent_ts author_id excluded shows question_source "
            "question_hash question_ts question_author_id response_hash lease_owner thread_ts "
            "reply_ts blocked_by model escalation rubric_version judge_version "
            "unscored_reason",
        ),
        *_columns(sa.Float, "probability mean spread weighted_score cost_usd"),
        *_columns(sa.Text, "question response blocker response_url justification unscored_detail"),
        *_columns(sa.Integer, "opened", nullable=False, server_default="1"),
        *_columns(
            sa.Integer, "slack_tries model_tries internal_errors reserved_tokens", nullable=False, server_default="0"
        ),
        *_columns(sa.Boolean, "thread_intent reply_intent is_stale", nullable=False, server_default=sa.false()),
        *_columns(sa.Integer, "score lowest highest input_tokens output_tokens latency_ms spared"),
        *_columns(sa.JSON, "flags", nullable=False, server_default="[]"),
        *_columns(UtcDateTime, "created_at", nullable=False),
        *_columns(UtcDateTime, "judged_at delivered_at edited_at deleted_at forgotten_at"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("team_id", "id"),
        sa.CheckConstraint("score IS NULL OR unscored_reason IS NULL", name="scored_or_not"),
        sa.UniqueConstraint("team_id", "key"),
        sqlite_autoincrement=True,
    )
    _index("cases", "created_at")
    _index(
        "cases",
        "team_id channel_id judged_at lowest highest score "
        "author_id requester_id unscored_reason model judge_version input_tokens "
        "output_tokens cost_usd spared visibility blocker blocked_by "
        "excluded probability",
        "visibility = 'thread' AND blocker IS NULL AND blocked_by IS NULL AND excluded IS NULL AND probability IS NULL",
        name="ix_cases_figures",
    )
    _index(
        "cases",
        "team_id channel_id judged_at message_ts attempt visibility blocker blocked_by excluded probability",
        "attempt > 1",
        name="ix_cases_repeated",
    )
    _index("cases", "id", "is_stale", name="ix_cases_stale")
    _index("cases", "team_id author_id", "author_id IS NOT NULL")
    _index("cases", "team_id channel_id judged_at")
    _index("cases", "team_id channel_id message_ts")
    _index("cases", "team_id channel_id question_ts", "question_ts IS NOT NULL")
    _index("cases", "team_id channel_id thread_ts", "thread_ts IS NOT NULL")
    _index("cases", "team_id judged_at")
    _index("cases", "team_id question_author_id", "question_author_id IS NOT NULL")
    _index("cases", "team_id requester_id created_at")
    _index("cases", "team_id channel_id requester_id status", "status != 'delivered'", name="ix_cases_unsettled")
    _index(
        "cases",
        "team_id channel_id judged_at lowest highest score author_id requester_id "
        "unscored_reason model judge_version input_tokens output_tokens cost_usd spared thread_ts "
        "probability",
        "probability IS NOT NULL",
        name="ix_cases_watched",
    )
    op.create_table(
        "ratings",
        *_columns(sa.String, "team_id", nullable=False),
        *_columns(sa.Integer, "case_id position", nullable=False),
        *_columns(sa.Integer, "score input_tokens output_tokens latency_ms"),
        *_columns(sa.String, "unscored_reason model"),
        *_columns(sa.Text, "justification raw", nullable=False),
        *_columns(sa.Float, "weighted_score cost_usd"),
        sa.PrimaryKeyConstraint("team_id", "case_id", "position"),
        sa.ForeignKeyConstraint(["team_id", "case_id"], ["cases.team_id", "cases.id"], ondelete="CASCADE"),
        sa.CheckConstraint("(score IS NULL) <> (unscored_reason IS NULL)", name="scored_or_not"),
    )
    op.create_table(
        "labels",
        *_columns(sa.String, "team_id user_id", nullable=False),
        *_columns(sa.Integer, "case_id score", nullable=False),
        *_columns(sa.String, "channel_id", nullable=False, server_default=""),
        *_columns(sa.Text, "reason"),
        *_columns(sa.Boolean, "is_blind", nullable=False, server_default=sa.false()),
        *_columns(sa.Float, "probability"),
        *_columns(UtcDateTime, "created_at updated_at", nullable=False),
        sa.PrimaryKeyConstraint("team_id", "case_id", "user_id"),
        sa.ForeignKeyConstraint(["team_id", "case_id"], ["cases.team_id", "cases.id"], ondelete="CASCADE"),
    )
    _index("labels", "team_id channel_id case_id score", name="ix_labels_figures")
    op.create_table(
        "draws",
        *_columns(sa.String, "team_id user_id", nullable=False),
        *_columns(sa.Integer, "case_id", nullable=False),
        *_columns(sa.Float, "probability", nullable=False),
        *_columns(sa.String, "outcome"),
        *_columns(UtcDateTime, "drawn_at", nullable=False),
        sa.PrimaryKeyConstraint("team_id", "case_id", "user_id"),
        sa.ForeignKeyConstraint(["team_id", "case_id"], ["cases.team_id", "cases.id"], ondelete="CASCADE"),
    )
    op.create_table(
        "processes",
        *_columns(sa.String, "id host", nullable=False),
        *_columns(sa.Integer, "pid", nullable=False),
        *_columns(sa.Boolean, "is_connected", nullable=False),
        *_columns(UtcDateTime, "started_at seen_at", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "channels",
        *_columns(sa.String, "team_id channel_id", nullable=False),
        *_columns(sa.Boolean, "is_digest_on ranks_people", nullable=False, server_default=sa.false()),
        *_columns(sa.String, "digest_day digest_time digest_tz score_reaction rubric rubric_version judge_model"),
        *_columns(UtcDateTime, "digest_since"),
        *_columns(sa.Integer, "labels_per_week watch_tokens_per_day"),
        *_columns(UtcDateTime, "updated_at", nullable=False),
        sa.PrimaryKeyConstraint("team_id", "channel_id"),
    )
    op.create_table(
        "rubrics",
        *_columns(sa.String, "team_id channel_id name version saved_by", nullable=False),
        *_columns(sa.Integer, "number", nullable=False),
        *_columns(sa.Text, "prompt", nullable=False),
        *_columns(UtcDateTime, "saved_at", nullable=False),
        sa.PrimaryKeyConstraint("team_id", "channel_id", "name", "number"),
    )
    op.create_table(
        "replays",
        *_columns(sa.Integer, "id", nullable=False),
        *_columns(sa.String, "team_id channel_id user_id", nullable=False),
        *_columns(sa.String, "rubric rubric_version judge_model"),
        *_columns(UtcDateTime, "asked_at", nullable=False),
        *_columns(UtcDateTime, "told_at"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("team_id", "channel_id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "replayed",
        *_columns(sa.Integer, "replay_id case_id", nullable=False),
        *_columns(sa.String, "team_id", nullable=False),
        sa.PrimaryKeyConstraint("replay_id", "case_id"),
        sa.ForeignKeyConstraint(["team_id", "case_id"], ["cases.team_id", "cases.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["replay_id"], ["replays.id"], ondelete="CASCADE"),
    )
    op.create_table(
        "replay_scores",
        *_columns(sa.Integer, "replay_id case_id", nullable=False),
        *_columns(sa.String, "judge_version", nullable=False),
        *_columns(sa.Integer, "score"),
        sa.PrimaryKeyConstraint("replay_id", "case_id", "judge_version"),
        sa.ForeignKeyConstraint(
            ["replay_id", "case_id"], ["replayed.replay_id", "replayed.case_id"], ondelete="CASCADE"
        ),
    )
    op.create_table(
        "watches",
        *_columns(sa.String, "team_id channel_id author_id shows", nullable=False),
        *_columns(sa.Float, "share", nullable=False),
        *_columns(sa.Integer, "per_day", nullable=False),
        *_columns(sa.String, "alerts_to"),
        *_columns(sa.Float, "floor"),
        *_columns(UtcDateTime, "since looked_at updated_at", nullable=False),
        *_columns(UtcDateTime, "tested_at"),
        sa.PrimaryKeyConstraint("team_id", "channel_id", "author_id"),
    )
    op.create_table(
        "replies",
        *_columns(sa.String, "team_id channel_id ts author_id day", nullable=False),
        *_columns(sa.String, "parent_ts outcome text_hash"),
        *_columns(sa.Float, "probability", nullable=False),
        *_columns(UtcDateTime, "rests_at", nullable=False),
        sa.PrimaryKeyConstraint("team_id", "channel_id", "ts"),
    )
    _index("replies", "team_id channel_id author_id day outcome", name="ix_replies_figures")
    _index("replies", "team_id rests_at", "outcome IS NULL", name="ix_replies_waiting")
    op.create_table(
        "alerts",
        *_columns(sa.String, "team_id channel_id author_id day kind", nullable=False),
        *_columns(UtcDateTime, "claimed_at", nullable=False),
        *_columns(UtcDateTime, "posted_at"),
        sa.PrimaryKeyConstraint("team_id", "channel_id", "author_id", "day"),
    )
    op.create_table(
        "executions",
        *_columns(sa.String, "team_id id", nullable=False),
        *_columns(sa.Integer, "case_id", nullable=False),
        *_columns(sa.Boolean, "quotes", nullable=False),
        *_columns(UtcDateTime, "created_at", nullable=False),
        *_columns(UtcDateTime, "completed_at"),
        sa.PrimaryKeyConstraint("team_id", "id"),
    )
    _index("executions", "case_id", "completed_at IS NULL", name="ix_executions_waiting")
    op.create_table(
        "thumbs",
        *_columns(sa.String, "team_id channel_id ts user_id", nullable=False),
        *_columns(sa.Boolean, "is_up is_given", nullable=False),
        *_columns(UtcDateTime, "changed_at", nullable=False),
        sa.PrimaryKeyConstraint("team_id", "channel_id", "ts", "user_id", "is_up"),
    )
    _index("thumbs", "changed_at", "NOT is_given", name="ix_thumbs_taken_back")
    _index("thumbs", "team_id user_id")
    op.create_table(
        "people",
        *_columns(sa.String, "team_id user_id", nullable=False),
        *_columns(sa.String, "visibility"),
        *_columns(UtcDateTime, "updated_at", nullable=False),
        sa.PrimaryKeyConstraint("team_id", "user_id"),
    )
    op.create_table(
        "audit",
        *_columns(sa.Integer, "id", nullable=False),
        *_columns(sa.String, "team_id who what", nullable=False),
        *_columns(UtcDateTime, "at", nullable=False),
        *_columns(sa.String, "channel_id user_id"),
        *_columns(sa.Integer, "case_id cases"),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    _index("audit", "at")
    op.create_table(
        "spent",
        *_columns(sa.Integer, "id tokens", nullable=False),
        *_columns(sa.String, "team_id requester_id", nullable=False),
        *_columns(UtcDateTime, "created_at", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    _index("spent", "created_at")
    op.create_table(
        "digests",
        *_columns(sa.String, "team_id channel_id week status", nullable=False),
        *_columns(UtcDateTime, "claimed_at", nullable=False),
        *_columns(UtcDateTime, "posted_at"),
        *_columns(sa.String, "message_ts"),
        sa.PrimaryKeyConstraint("team_id", "channel_id", "week"),
    )


def downgrade() -> None:
    raise NotImplementedError("there is nothing before the first tables")


def _columns(kind: Any, names: str, *, nullable: bool = True, server_default: Any = None) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind(), nullable=nullable, server_default=server_default) for name in names.split()]


def _index(table: str, columns: str, where: str | None = None, name: str | None = None) -> None:
    name = name or f"ix_{table}_{columns.replace(' ', '_')}"
    only = sa.text(where) if where else None
    op.create_index(name, table, columns.split(), sqlite_where=only, postgresql_where=only)
