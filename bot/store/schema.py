"""The tables. Every key contains the team id, because two workspaces may have the same channel and user ids."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TextClause,
    TypeDecorator,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.util import OrderedSet

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


IS_UNSETTLED = text("status != 'delivered'")
IS_OPEN = text("cases.status IN ('received', 'judged')")
"""A case that is still to be settled; the others are done, or wait for a person. Written out: lists compile slowly."""
_COUNTS = text(
    "message_ts IS NOT NULL AND visibility = 'thread' AND blocker IS NULL AND blocked_by IS NULL AND excluded IS NULL "
    "AND probability IS NULL"
)
_FIGURES = (
    *("team_id", "channel_id", "judged_at", "lowest", "highest", "score", "author_id", "requester_id", "thread_ts"),
    *("unscored_reason", "model", "judge_version", "input_tokens", "output_tokens", "cost_usd", "skipped_ratings"),
    "unread",
)
_SHOWN = ("visibility", "blocker", "blocked_by", "excluded", "probability")
_WATCHED = text("probability IS NOT NULL AND excluded IS NULL")
_REPEATED = text("attempt > 1")
IS_WAITED_FOR = text("outcome IS NULL")
IS_WAITING = text("completed_at IS NULL")
IS_TAKEN_BACK = text("NOT is_given")
IS_STALE = text("is_stale")
"""Written as in the index, like IS_UNSETTLED; SQLAlchemy's own `is_stale = 1` would not use it."""


class UtcDateTime(TypeDecorator[datetime]):
    """An aware UTC time; SQLite has no time zones, so there the zone is dropped and put back."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value and (value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC))


class Ids(TypeDecorator[tuple[str, ...]]):
    """Slack's ids, separated by commas; NULL if there are none."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: tuple[str, ...] | None, dialect: Dialect) -> str | None:
        return ",".join(value or ()) or None

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[str, ...]:
        return tuple(value.split(",")) if value else ()


class CleanText(TypeDecorator[str]):
    """Text of any origin; what a database rejects (NUL on PostgreSQL, half a surrogate pair) becomes U+FFFD."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _columns(kind: Any, *names: str, **options: Any) -> Iterator[Column[Any]]:
    return (Column(name, kind, **options) for name in names)


# A query uses such an index only if it states the condition in the same words.
def _index(name: str | None, *columns: str, where: TextClause) -> Index:
    return Index(name, *columns, sqlite_where=where, postgresql_where=where)


# Alembic's own table
alembic_version = Table("alembic_version", metadata, Column("version_num", String(32), primary_key=True))

cases = Table(
    "cases",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    *_columns(String, "team_id", "key", "channel_id", "requester_id", "requester_name", nullable=False),
    *_columns(String, "source", "rubric", "visibility", nullable=False),
    *_columns(String, "message_ts", "parent_ts", "author_id"),
    Column("attempt", Integer, nullable=False),
    Column("excluded", String),
    Column("probability", Float),  # of a watch's draw of the reply; NULL if the score was asked for
    Column("shows", String),  # what the channel sees of a reply that a watch drew
    Column("question", CleanText),
    *_columns(String, "question_source", "question_hash"),
    Column("question_ts", String),  # the message that the question was read from
    Column("question_author_id", String),
    Column("response", CleanText),
    Column("response_hash", String),
    *_columns(
        Integer, "messages_before", "left_out", nullable=False, server_default="0"
    ),  # messages before the question
    Column("messages", Integer, nullable=False, server_default="1"),  # of the reply
    Column("unread", String),  # what it shows and cannot be read
    Column("blocker", CleanText),
    Column("response_url", Text),
    Column("status", String, nullable=False),
    Column("opened", Integer, nullable=False, server_default="1"),  # how often it was started from the beginning
    Column("lease_owner", String),  # the last attempt to settle it; each new attempt writes its own name
    Column("slack_tries", Integer, nullable=False, server_default="0"),  # consecutive failures; so are the next two
    *_columns(Integer, "model_tries", "internal_errors", nullable=False, server_default="0"),
    *_columns(String, "thread_ts", "reply_ts"),
    *_columns(Boolean, "thread_intent", "reply_intent", nullable=False, server_default=false()),
    Column("blocked_by", String),
    *_columns(Integer, "score", "lowest", "highest"),
    *_columns(Float, "mean", "spread"),
    Column("justification", CleanText),
    Column("model", String),  # the one whose verdict counts
    Column("escalation", String),  # "first > stronger", if there was a stronger model to ask
    Column("rubric_version", String),
    Column("judge_version", String),  # everything that makes scores comparable, in words; NULL without a score
    Column("unscored_reason", String),
    Column("unscored_detail", CleanText),
    *_columns(Integer, "input_tokens", "output_tokens", "reasoning_tokens"),
    Column("reserved_tokens", Integer, nullable=False, server_default="0"),  # until it is known what it took
    Column("latency_ms", Integer),
    Column("flags", JSON, nullable=False, server_default="[]"),
    *_columns(Float, "weighted_score", "cost_usd"),
    Column("points", JSON(none_as_null=True)),  # which criteria are met, asked for beside the score
    Column("skipped_ratings", Integer),  # ratings that could not change the score; NULL if all are always asked for
    Column("created_at", UtcDateTime, nullable=False),
    *_columns(UtcDateTime, "judged_at", "delivered_at"),
    Column("edited_at", UtcDateTime),  # when the question's or response's message was edited after it was read
    Column("deleted_at", UtcDateTime),
    Column("forgotten_at", UtcDateTime),  # when a person whose words are, or were, in the case asked for that
    Column("is_stale", Boolean, nullable=False, server_default=false()),  # the verdict in Slack does not show that yet
    UniqueConstraint("team_id", "key"),
    UniqueConstraint("team_id", "id"),
    Index(None, "team_id", "channel_id", "message_ts"),
    Index(None, "team_id", "channel_id", "judged_at"),
    Index(None, "team_id", "requester_id", "created_at"),
    Index(None, "team_id", "judged_at"),
    Index(None, "created_at"),
    _index(None, "team_id", "channel_id", "question_ts", where=text("question_ts IS NOT NULL")),
    _index(None, "team_id", "channel_id", "thread_ts", where=text("thread_ts IS NOT NULL")),
    _index(None, "team_id", "author_id", where=text("author_id IS NOT NULL")),
    _index(None, "team_id", "question_author_id", where=text("question_author_id IS NOT NULL")),
    _index("ix_cases_stale", "id", where=IS_STALE),
    _index("ix_cases_unsettled", "team_id", "channel_id", "requester_id", "status", where=IS_UNSETTLED),
    # The digest's figures come from these two alone; SQLite needs the condition's columns in them, too.
    _index("ix_cases_figures", *_FIGURES, "message_ts", *_SHOWN, where=_COUNTS),
    _index("ix_cases_watched", *_FIGURES, "probability", "excluded", where=_WATCHED),
    _index(
        "ix_cases_repeated", "team_id", "channel_id", "judged_at", "message_ts", "attempt", *_SHOWN, where=_REPEATED
    ),
    CheckConstraint("score IS NULL OR unscored_reason IS NULL", name="scored_or_not"),
    sqlite_autoincrement=True,
)

turns = Table(
    "turns",  # the messages that a case was read from, if there are more than its question and its reply
    metadata,
    Column("team_id", String, primary_key=True),
    *_columns(Integer, "case_id", "position", primary_key=True),
    *_columns(String, "channel_id", "part", "ts", "role", nullable=False),
    Column("author_id", String),
    Column("text", CleanText),
    Column("text_hash", String, nullable=False),
    Index(None, "team_id", "channel_id", "ts"),
    Index(None, "team_id", "author_id"),
    ForeignKeyConstraint(["team_id", "case_id"], ["cases.team_id", "cases.id"], ondelete="CASCADE"),
)

ratings = Table(
    "ratings",
    metadata,
    Column("team_id", String, primary_key=True),
    *_columns(Integer, "case_id", "position", primary_key=True),
    Column("score", Integer),
    Column("unscored_reason", String),
    *_columns(CleanText, "justification", "raw", nullable=False),
    *_columns(String, "model", "served"),
    *_columns(Integer, "input_tokens", "output_tokens", "reasoning_tokens", "latency_ms"),
    *_columns(Float, "weighted_score", "cost_usd", "coverage"),
    *_columns(JSON(none_as_null=True), "probabilities", "points"),
    ForeignKeyConstraint(["team_id", "case_id"], ["cases.team_id", "cases.id"], ondelete="CASCADE"),
    CheckConstraint("(score IS NULL) <> (unscored_reason IS NULL)", name="scored_or_not"),
)

quotes = Table(
    "quotes",  # posts, beside verdicts, that quote the judge's reason for a case
    metadata,
    Column("team_id", String, primary_key=True),
    Column("case_id", Integer, primary_key=True),
    *_columns(String, "channel_id", "ts", primary_key=True),
    ForeignKeyConstraint(["team_id", "case_id"], ["cases.team_id", "cases.id"], ondelete="CASCADE"),
)

causes = Table(
    "causes",  # of the low replies of a channel's week
    metadata,
    *_columns(String, "team_id", "channel_id", "week", primary_key=True),
    Column("case_id", Integer, primary_key=True),
    Column("name", CleanText, nullable=False),
    Index(None, "team_id", "case_id"),
    ForeignKeyConstraint(["team_id", "case_id"], ["cases.team_id", "cases.id"], ondelete="CASCADE"),
)

labels = Table(
    "labels",
    metadata,
    Column("team_id", String, primary_key=True),
    Column("case_id", Integer, primary_key=True),
    Column("user_id", String, primary_key=True),
    Column("channel_id", String, nullable=False, server_default=""),  # the case's, for finding a channel's labels
    Column("score", Integer, nullable=False),
    Column("reason", CleanText),
    Column("is_blind", Boolean, nullable=False, server_default=false()),  # given before the judge's score was shown
    Column("probability", Float),  # of the draw for a blind label
    *_columns(UtcDateTime, "created_at", "updated_at", nullable=False),
    Index("ix_labels_figures", "team_id", "channel_id", "case_id", "score"),
    ForeignKeyConstraint(["team_id", "case_id"], ["cases.team_id", "cases.id"], ondelete="CASCADE"),
)

assignments = Table(
    "label_assignments",  # cases that a person was shown for a blind label, or was told the score of
    metadata,
    *_columns(String, "team_id", "user_id", primary_key=True),
    Column("case_id", Integer, primary_key=True),
    Column("probability", Float, nullable=False),  # 0 if they were never shown it for a label
    Column("outcome", String),  # NULL: the modal was opened, and not answered
    Column("drawn_at", UtcDateTime, nullable=False),
    ForeignKeyConstraint(["team_id", "case_id"], ["cases.team_id", "cases.id"], ondelete="CASCADE"),
)

processes = Table(
    "processes",
    metadata,
    Column("id", String, primary_key=True),
    Column("host", String, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("is_connected", Boolean, nullable=False),
    *_columns(UtcDateTime, "started_at", "seen_at", nullable=False),
)

channels = Table(
    "channels",
    metadata,
    *_columns(String, "team_id", "channel_id", primary_key=True),
    Column("is_digest_on", Boolean, nullable=False, server_default=false()),
    *_columns(String, "digest_day", "digest_time", "digest_tz"),
    Column("digest_since", UtcDateTime),  # when it was last switched on; weeks due before that are not posted
    Column("labels_per_week", Integer),  # how many blind labels it wants; NULL: the default
    Column("score_reaction", String),  # the emoji with which people ask for a score; NULL: none
    Column("rubric", String),  # the one that scores replies; NULL: as in the app's settings
    Column("rubric_version", String),  # set if the rubric is the channel's own
    Column("judge_model", String),  # NULL: as in the app's settings
    Column("reference", CleanText),  # what replies must agree with; judge versions have its hash
    Column("updated_at", UtcDateTime, nullable=False),
)

rubrics = Table(
    "rubrics",  # those made in channels; each saved version is a row
    metadata,
    *_columns(String, "team_id", "channel_id", "name", primary_key=True),
    Column("number", Integer, primary_key=True),  # counts the saved versions, from 1
    Column("version", String, nullable=False),  # a hash of the prompt
    Column("prompt", Text, nullable=False),
    Column("saved_by", String, nullable=False),
    Column("saved_at", UtcDateTime, nullable=False),
)

replays = Table(
    "replays",  # labelled cases judged again before a channel's judge is changed; one per channel, until decided
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    *_columns(String, "team_id", "channel_id", "user_id", nullable=False),  # the last is who wants the change
    *_columns(String, "rubric", "rubric_version", "judge_model"),
    Column("asked_at", UtcDateTime, nullable=False),
    Column("told_at", UtcDateTime),
    UniqueConstraint("team_id", "channel_id"),
    sqlite_autoincrement=True,
)

replayed = Table(
    "replayed",  # the cases of a replay
    metadata,
    Column("replay_id", Integer, primary_key=True),
    Column("team_id", String, nullable=False),
    Column("case_id", Integer, primary_key=True),
    ForeignKeyConstraint(["replay_id"], ["replays.id"], ondelete="CASCADE"),
    ForeignKeyConstraint(["team_id", "case_id"], ["cases.team_id", "cases.id"], ondelete="CASCADE"),
)

replay_scores = Table(
    "replay_scores",  # what a judge gave a case that another one had scored
    metadata,
    *_columns(Integer, "replay_id", "case_id", primary_key=True),
    Column("judge_version", String, primary_key=True),
    Column("score", Integer),  # NULL: it was asked, and gave no score
    ForeignKeyConstraint(["replay_id", "case_id"], ["replayed.replay_id", "replayed.case_id"], ondelete="CASCADE"),
)

improvements = Table(
    "improvements",  # of a channel's judge, learnt from labels; one per channel, until another begins
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    *_columns(String, "team_id", "channel_id", "user_id", nullable=False),  # the last is who asked for it
    *_columns(String, "rubric", "rubric_version", "judge_model"),  # the judge in use when it began
    Column("status", String, nullable=False),
    Column("started_at", UtcDateTime, nullable=False),
    *_columns(String, "message_channel", "message_ts"),  # the message in which the person sees its progress
    Column("prompt", CleanText),  # the rubric that it found, if that is better
    UniqueConstraint("team_id", "channel_id"),
    sqlite_autoincrement=True,
)

align_records = Table(
    "align_records",  # what improvements of a channel's judge remember about labelled cases and models' answers
    metadata,
    *_columns(String, "team_id", "channel_id", "key", primary_key=True),
    Column("case_id", Integer),  # the case that it is about
    Column("value", JSON, nullable=False),
    Index(None, "team_id", "case_id"),
    ForeignKeyConstraint(["team_id", "case_id"], ["cases.team_id", "cases.id"], ondelete="CASCADE"),
)

watches = Table(
    "watches",
    metadata,
    *_columns(String, "team_id", "channel_id", primary_key=True),
    Column("author_id", String, primary_key=True),  # the assistant, as its messages name it
    Column("share", Float, nullable=False),
    Column("per_day", Integer, nullable=False),
    Column("shows", String, nullable=False),
    Column("alerts_to", Ids),  # the channel, people, or both
    Column("floor", Float),  # they are also told when the mean is below it
    Column("low_since", UtcDateTime),  # since when they are also told of single low replies; NULL: they are not
    Column("since", UtcDateTime, nullable=False),  # when the watch began
    Column("look_at", UtcDateTime, nullable=False),  # when the channel is to be read next
    Column("read_until", UtcDateTime, nullable=False),  # everything written before has been found
    Column("not_read", String),  # Slack's error if the last look failed; otherwise NULL
    Column("judge_version", String),  # the judge version last reported to those who are alerted
    Column("tested_at", UtcDateTime),  # when a person last had a test alert sent
    Column("updated_at", UtcDateTime, nullable=False),
)

replies = Table(
    "replies",  # those that a watch has seen
    metadata,
    *_columns(String, "team_id", "channel_id", "ts", primary_key=True),
    Column("author_id", String, nullable=False),
    Column("parent_ts", String),
    Column("last_ts", String),  # its newest message, if it has several
    Column("ended_ts", String),  # the first message by somebody else after it in its thread
    Column("probability", Float, nullable=False),
    Column("outcome", String),  # NULL: it was drawn, and waits to be scored
    Column("text_hash", String),  # of the text last seen, until it is settled
    Column("rests_at", UtcDateTime, nullable=False),  # when it is looked at, unless it is edited before
    Column("day", String, nullable=False),  # on which it was written, in UTC
    Index(None, "team_id", "channel_id", "parent_ts"),
    _index("ix_replies_waiting", "team_id", "rests_at", where=IS_WAITED_FOR),
    Index("ix_replies_figures", "team_id", "channel_id", "author_id", "day", "outcome"),
)

installations = Table(
    "installations",  # by OAuth
    metadata,
    Column("team_id", String, primary_key=True),  # of an organisation, its enterprise id
    Column("app_id", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("token", String),  # encrypted; NULL once the app was removed
    Column("installed_at", UtcDateTime, nullable=False),
    Column("left_at", UtcDateTime),
)

oauth_states = Table(
    "oauth_states",
    metadata,
    Column("state", String, primary_key=True),
    Column("expires_at", UtcDateTime, nullable=False),
)

keys = Table(
    "keys",  # secrets of this installation, made when they are first needed
    metadata,
    Column("name", String, primary_key=True),
    Column("value", String, nullable=False),
)

alerts = Table(
    "alerts",
    metadata,
    *_columns(String, "team_id", "channel_id", "author_id", primary_key=True),
    Column("day", String, primary_key=True),  # in UTC; at most one alert a day
    Column("kind", String, nullable=False),
    Column("claimed_at", UtcDateTime, nullable=False),
    Column("posted_at", UtcDateTime),
)

notices = Table(
    "notices",  # what each recipient is told once: of a watch, or, without a channel, a week's request for labels
    metadata,
    *_columns(String, "team_id", "channel_id", "author_id", "name", "recipient", primary_key=True),
    Column("day", String, nullable=False),  # in UTC
    Column("claimed_at", UtcDateTime, nullable=False),
    Column("posted_at", UtcDateTime),
)

releases = Table(
    "releases",  # changes of a watched assistant, before and after which its scores are compared
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    *_columns(String, "team_id", "channel_id", "author_id", "set_by", nullable=False),
    Column("set_at", UtcDateTime, nullable=False),
    Column("note", CleanText, nullable=False),
    Column("needed", Integer, nullable=False),  # how many scores after it a comparison needs
    Column("taken_back_at", UtcDateTime),
    Index(None, "team_id", "channel_id"),
    sqlite_autoincrement=True,
)

executions = Table(
    "executions",  # runs of the workflow step
    metadata,
    Column("team_id", String, primary_key=True),
    Column("id", String, primary_key=True),  # Slack's id
    Column("case_id", Integer, nullable=False),  # the case that it waits for, which may be gone
    Column("quotes", Boolean, nullable=False),  # whether the workflow may be told the justification
    Column("created_at", UtcDateTime, nullable=False),
    Column("completed_at", UtcDateTime),  # NULL: its workflow is waiting
    _index("ix_executions_waiting", "case_id", where=IS_WAITING),
)

thumbs = Table(
    "thumbs",  # those under replies that were scored or watched
    metadata,
    *_columns(String, "team_id", "channel_id", primary_key=True),
    Column("ts", String, primary_key=True),  # the reply
    Column("user_id", String, primary_key=True),
    Column("is_up", Boolean, primary_key=True),
    Column("is_given", Boolean, nullable=False),  # False: taken back since
    Column("changed_at", UtcDateTime, nullable=False),
    Index(None, "team_id", "user_id"),
    _index("ix_thumbs_taken_back", "changed_at", where=IS_TAKEN_BACK),
)

people = Table(
    "people",
    metadata,
    *_columns(String, "team_id", "user_id", primary_key=True),
    Column("visibility", String),  # of the verdicts that they ask for; NULL: the workspace's setting
    Column("is_asked", Boolean),  # True: they agreed to be asked for blind labels
    Column("updated_at", UtcDateTime, nullable=False),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("team_id", String, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    *_columns(String, "who", "what", nullable=False),
    Column("channel_id", String),
    Column("case_id", Integer),  # a case that is gone
    Column("user_id", String),  # the person it is about, or the watched assistant
    Column("cases", Integer),  # how many cases
    Index(None, "at"),
    sqlite_autoincrement=True,
)

spent = Table(
    "spent",  # used by cases that were forgotten on the same day, which still count in the limits
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    *_columns(String, "team_id", "requester_id", nullable=False),
    Column("created_at", UtcDateTime, nullable=False),  # when the case was created, not the row
    Column("tokens", Integer, nullable=False),
    Index(None, "created_at"),
)

digests = Table(
    "digests",
    metadata,
    *_columns(String, "team_id", "channel_id", primary_key=True),
    Column("week", String, primary_key=True),  # when it ends, as in `Week.label`
    Column("status", String, nullable=False),
    Column("claimed_at", UtcDateTime, nullable=False),
    Column("posted_at", UtcDateTime),
    Column("message_ts", String),
)

for _table in metadata.tables.values():
    # SQLite decides between equally good indexes by the order in which they were made, and a set has none. In this one
    # it reads a channel's weeks from the indexes for figures (tests/features/home/test_home.py).
    _table.indexes = OrderedSet(sorted(_table.indexes, key=lambda index: str(index.name), reverse=True))
