"""The tables.

Every key contains the team id, because two workspaces may have the same channel and user ids.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import JSON, Boolean, Float, Integer, String, Text
from sqlalchemy.sql.schema import SchemaItem
from sqlalchemy.util import OrderedSet

metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


IS_UNSETTLED = sa.text("status != 'delivered'")
IS_OPEN = sa.text("cases.status IN ('received', 'judged')")
"""A case that is still to be settled; the others are done, or wait for a person. Written out: lists compile slowly."""
_COUNTS = sa.text(
    "message_ts IS NOT NULL AND visibility = 'thread' AND blocker IS NULL AND blocked_by IS NULL "
    "AND excluded IS NULL AND probability IS NULL"
)
_FIGURES = (
    *(
        "team_id",
        "channel_id",
        "judged_at",
        "lowest",
        "highest",
        "score",
        "author_id",
        "requester_id",
        "thread_ts",
    ),
    *(
        "unscored_reason",
        "model",
        "judge_version",
        "input_tokens",
        "output_tokens",
        "cost_usd",
        "skipped_ratings",
    ),
    "unread",
)
_SHOWN = ("visibility", "blocker", "blocked_by", "excluded", "probability")
_WATCHED = sa.text("probability IS NOT NULL AND excluded IS NULL")
_REPEATED = sa.text("attempt > 1")
IS_WAITED_FOR = sa.text("outcome IS NULL")
IS_TAKEN_BACK = sa.text("NOT is_given")
IS_STALE = sa.text("is_stale")
"""Written as in the index, like IS_UNSETTLED; SQLAlchemy's own `is_stale = 1` would not use it."""


class UtcDateTime(sa.TypeDecorator[datetime]):
    """An aware UTC time; SQLite has no time zones, so there the zone is dropped and put back."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        return value and (value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC))


class Ids(sa.TypeDecorator[tuple[str, ...]]):
    """Slack's ids, separated by commas; NULL if there are none."""

    impl = sa.String
    cache_ok = True

    def process_bind_param(self, value: tuple[str, ...] | None, dialect: sa.Dialect) -> str | None:
        return ",".join(value or ()) or None

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> tuple[str, ...]:
        return tuple(value.split(",")) if value else ()


class CleanText(sa.TypeDecorator[str]):
    """Text of any origin; what a database rejects (NUL on PostgreSQL, half a surrogate pair)
    becomes U+FFFD.
    """

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        return (
            None
            if value is None
            else value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
        )


def _columns(
    strings: Iterable[str], kinds: dict[str, Any], **options: Any
) -> Iterator[sa.Column[Any]]:
    return (
        sa.Column(name, kind, **options)
        for name, kind in (dict.fromkeys(strings, String) | kinds).items()
    )


def _key(*strings: str, **kinds: Any) -> Iterator[sa.Column[Any]]:
    """The columns of the primary key; like those of the next two, they are strings if no kind is
    named.
    """
    return _columns(strings, kinds, primary_key=True)


def _needed(*strings: str, default: Any = None, **kinds: Any) -> Iterator[sa.Column[Any]]:
    return _columns(strings, kinds, nullable=False, server_default=default)


def _maybe(*strings: str, **kinds: Any) -> Iterator[sa.Column[Any]]:
    return _columns(strings, kinds)


def _of_case() -> sa.ForeignKeyConstraint:
    case = ["cases.team_id", "cases.id"]
    return sa.ForeignKeyConstraint(
        ["team_id", "case_id"], case, ondelete="CASCADE", onupdate="CASCADE"
    )


# A query uses such an index only if it states the condition in the same words.
def _index(name: str | None, *columns: str, where: sa.TextClause) -> sa.Index:
    return sa.Index(name, *columns, info={"where": where})


@sa.event.listens_for(metadata, "before_create")
def _add_conditions(_metadata: object, connection: sa.Connection, **_options: object) -> None:
    # Not `postgresql_where=` above: with it, SQLAlchemy imports that dialect also for SQLite (5
    # MiB).
    for index in (each for table in metadata.tables.values() for each in table.indexes):
        index.dialect_options[connection.dialect.name]["where"] = index.info.get("where")


def _table(name: str, *items: SchemaItem, **options: Any) -> sa.Table:
    table = sa.Table(name, metadata, *items, **options)
    # SQLite decides between equally good indexes by the order in which they were made, and a set
    # has none. In this one it reads a channel's weeks from the indexes for figures
    # (tests/features/home/test_home.py).
    table.indexes = OrderedSet(
        sorted(table.indexes, key=lambda index: str(index.name), reverse=True)
    )
    return table


def _numbered(name: str, *items: SchemaItem) -> sa.Table:
    """A table whose rows are counted; a number is never given again."""
    number = sa.Column("id", Integer, primary_key=True, autoincrement=True)
    return _table(name, number, *items, sqlite_autoincrement=True)


_JSON = JSON(none_as_null=True)

# Alembic's own table
alembic_version = _table("alembic_version", *_key(version_num=String(32)))

cases = _numbered(
    "cases",  # `LoggedCase` and `CaseVerdict` say what their fields mean
    *_needed(
        "team_id",
        "key",
        "channel_id",
        "requester_id",
        "requester_name",
        "source",
        "rubric",
        "visibility",
    ),
    *_needed("status", attempt=Integer, created_at=UtcDateTime),
    *_needed(opened=Integer, messages=Integer, default="1"),
    *_needed(messages_before=Integer, left_out=Integer, default="0"),
    *_needed(slack_tries=Integer, model_tries=Integer, internal_errors=Integer, default="0"),
    *_needed(reserved_tokens=Integer, default="0"),  # until it is known what it took
    *_needed(thread_intent=Boolean, reply_intent=Boolean, default=sa.false()),
    *_maybe(
        "message_ts",
        "parent_ts",
        "author_id",
        "thread_ts",
        "reply_ts",
        "lease_owner",
        "blocked_by",
        "excluded",
    ),
    *_maybe("shows", "unread", probability=Float, blocker=CleanText, response_url=Text),
    *_maybe(
        "question_source", "question_ts", "question_author_id", "question_hash", question=CleanText
    ),
    *_maybe("response_hash", response=CleanText, judged_at=UtcDateTime, delivered_at=UtcDateTime),
    *_maybe(
        "model",
        "rubric_version",
        "judge_version",
        "unscored_reason",
        unscored_detail=CleanText,
    ),
    *_maybe(
        score=Integer,
        lowest=Integer,
        highest=Integer,
        mean=Float,
        spread=Float,
        weighted_score=Float,
    ),
    *_maybe(justification=CleanText, points=_JSON, input_tokens=Integer, output_tokens=Integer),
    *_maybe(reasoning_tokens=Integer, skipped_ratings=Integer, latency_ms=Integer, cost_usd=Float),
    *_needed(flags=JSON, default="[]"),
    *_maybe(edited_at=UtcDateTime, deleted_at=UtcDateTime, forgotten_at=UtcDateTime),
    *_needed(
        is_stale=Boolean, default=sa.false()
    ),  # the verdict in Slack does not show the last three yet
    sa.UniqueConstraint("team_id", "key"),
    sa.UniqueConstraint("team_id", "id"),
    sa.Index(None, "team_id", "channel_id", "message_ts"),
    sa.Index(None, "team_id", "channel_id", "judged_at"),
    sa.Index(None, "team_id", "requester_id", "created_at"),
    sa.Index(None, "team_id", "judged_at"),
    sa.Index(None, "created_at"),
    _index(None, "team_id", "channel_id", "question_ts", where=sa.text("question_ts IS NOT NULL")),
    _index(None, "team_id", "channel_id", "thread_ts", where=sa.text("thread_ts IS NOT NULL")),
    _index(None, "team_id", "author_id", where=sa.text("author_id IS NOT NULL")),
    _index(None, "team_id", "question_author_id", where=sa.text("question_author_id IS NOT NULL")),
    _index("ix_cases_stale", "id", where=IS_STALE),
    _index(
        "ix_cases_unsettled", "team_id", "channel_id", "requester_id", "status", where=IS_UNSETTLED
    ),
    # The digest's figures come from these two alone; SQLite needs the condition's columns in them,
    # too.
    _index("ix_cases_figures", *_FIGURES, "message_ts", *_SHOWN, where=_COUNTS),
    _index("ix_cases_watched", *_FIGURES, "probability", "excluded", where=_WATCHED),
    _index(
        "ix_cases_repeated",
        "team_id",
        "channel_id",
        "judged_at",
        "message_ts",
        "attempt",
        *_SHOWN,
        where=_REPEATED,
    ),
    sa.CheckConstraint("score IS NULL OR unscored_reason IS NULL", name="scored_or_not"),
)


def is_of_case(table: sa.FromClause, case: sa.FromClause = cases) -> sa.ColumnElement[bool]:
    """Whether a row is one of a case: a condition to join them by."""
    return sa.and_(table.c.team_id == case.c.team_id, table.c.case_id == case.c.id)


def rows_of_cases(
    table: sa.Table, which: sa.ColumnElement[bool], **values: Any
) -> tuple[Sequence[str], sa.Select[Any]]:
    """What `from_select` inserts: a row for each of these cases, selected because a case may be
    gone by now.
    """
    its = [sa.literal(value, table.c[name].type) for name, value in values.items()]
    return ["team_id", "case_id", *values], sa.select(cases.c.team_id, cases.c.id, *its).where(
        which
    )


turns = _table(
    # the messages that a case was read from, if there are more than its question and its reply
    "turns",
    *_key("team_id", case_id=Integer, position=Integer),
    *_needed("channel_id", "part", "ts", "role", "text_hash"),
    *_maybe("author_id", text=CleanText),
    sa.Index(None, "team_id", "channel_id", "ts"),
    sa.Index(None, "team_id", "author_id"),
    _of_case(),
)

ratings = _table(
    "ratings",
    *_key("team_id", case_id=Integer, position=Integer),
    *_needed(justification=CleanText, raw=CleanText),
    *_maybe(
        "unscored_reason", "model", "served", score=Integer, weighted_score=Float, coverage=Float
    ),
    *_maybe(
        input_tokens=Integer, output_tokens=Integer, reasoning_tokens=Integer, latency_ms=Integer
    ),
    *_maybe(cost_usd=Float, probabilities=_JSON, points=_JSON),
    _of_case(),
    sa.CheckConstraint("(score IS NULL) <> (unscored_reason IS NULL)", name="scored_or_not"),
)

# Posts, beside verdicts, that quote the judge's reason for a case
quotes = _table(
    "quotes", *_key("team_id", case_id=Integer, channel_id=String, ts=String), _of_case()
)

causes = _table(
    "causes",  # of the low replies of a channel's week
    *_key("team_id", "channel_id", "week", case_id=Integer),
    *_needed(name=CleanText),
    sa.Index(None, "team_id", "case_id"),
    _of_case(),
)

labels = _table(
    "labels",
    *_key("team_id", case_id=Integer, user_id=String),
    *_needed("channel_id", default=""),  # the case's, for finding a channel's labels
    *_needed(score=Integer, created_at=UtcDateTime, updated_at=UtcDateTime),
    *_maybe(reason=CleanText, probability=Float),  # the last is that of the draw for a blind label
    *_needed(is_blind=Boolean, default=sa.false()),
    sa.Index("ix_labels_figures", "team_id", "channel_id", "case_id", "score"),
    _of_case(),
)

assignments = _table(
    # cases that a person was shown for a blind label, or was told the score of
    "label_assignments",
    *_key("team_id", "user_id", case_id=Integer),
    *_needed(
        probability=Float, drawn_at=UtcDateTime
    ),  # the first is 0 if they were never shown it for a label
    *_maybe("outcome"),  # NULL: the modal was opened, and not answered
    _of_case(),
)

processes = _table(
    "processes",
    *_key("id"),
    *_needed("host", pid=Integer, is_connected=Boolean, seen_at=UtcDateTime),
)

channels = _table(
    "channels",  # `ChannelSettings` and `ChannelJudge` say what their fields mean
    *_key("team_id", "channel_id"),
    *_needed(is_digest_on=Boolean, default=sa.false()),
    *_maybe(
        "digest_day",
        "digest_time",
        "digest_tz",
        "score_reaction",
        "rubric",
        "rubric_version",
        "judge_model",
    ),
    *_maybe(digest_since=UtcDateTime, labels_per_week=Integer, reference=CleanText),
)

rubrics = _table(
    "rubrics",  # those made in channels; each saved version is a row
    *_key(
        "team_id", "channel_id", "name", number=Integer
    ),  # the number counts the saved versions, from 1
    *_needed(
        "version", "saved_by", prompt=Text, saved_at=UtcDateTime
    ),  # the version is a hash of the prompt
)

watches = _table(
    "watches",  # `Watch` says what its fields mean
    *_key("team_id", "channel_id", "author_id"),
    *_needed("shows", share=Float, per_day=Integer, since=UtcDateTime),
    *_maybe(alerts_to=Ids, floor=Float, low_since=UtcDateTime),
    *_needed(look_at=UtcDateTime),  # when the channel is to be read next
    *_needed(read_until=UtcDateTime),  # everything written before has been found
    *_maybe("not_read"),  # Slack's error if the last look failed; otherwise NULL
    *_maybe("judge_version"),  # the judge version last reported to those who are alerted
    *_needed(is_private=Boolean, default=sa.true()),  # as Slack said last; until then, to be safe
)

standings = _numbered(
    "standings",  # `Standing` says what its fields mean; the newest of a subject is its standing now
    *_needed("team_id", "channel_id", "author_id", "direction", lowest=Integer, highest=Integer),
    *_needed(stored_at=UtcDateTime, looked_at=UtcDateTime, n=Integer, asked=Integer),
    *_needed("why", "questions", default=""),
    *_needed(is_to_tell=Boolean, default=sa.false()),
    *_maybe("version", "event", "whose", ended=Ids, told_at=UtcDateTime),
    *_maybe(release_id=Integer),  # it is none of those, but how scores have changed with a release
    *_maybe(since=sa.Date, begun_on=sa.Date, found_on=sa.Date, origin=sa.Date),
    *_maybe(level=Float, level_low=Float, level_high=Float, before=Float),
    *_maybe(step=Float, step_low=Float, step_high=Float),
    *_maybe(judge_step=Float, judge_low=Float, judge_high=Float),
    sa.Index(None, "team_id", "channel_id", "author_id"),
)

replies = _table(
    "replies",  # those that a watch has seen
    *_key("team_id", "channel_id", "ts"),
    *_needed("author_id", "day", probability=Float),  # the day on which it was written, in UTC
    *_maybe("parent_ts"),
    *_maybe("last_ts"),  # its newest message, if it has several
    *_maybe("ended_ts"),  # the first message by somebody else after it in its thread
    *_maybe("outcome"),  # NULL: it was drawn, and waits to be scored
    *_maybe("text_hash"),  # of the text last seen, until it is settled
    *_needed(rests_at=UtcDateTime),  # when it is looked at, unless it is edited before
    sa.Index(None, "team_id", "channel_id", "parent_ts"),
    _index("ix_replies_waiting", "team_id", "rests_at", where=IS_WAITED_FOR),
    sa.Index("ix_replies_figures", "team_id", "channel_id", "author_id", "day", "outcome"),
)

seen_messages = _table(
    "seen_messages",  # `SeenMessage` says what its fields mean; no words
    *_key("team_id", "channel_id", "ts"),
    *_needed("thread_ts", "author_id", "says", is_app=Boolean),
    *_maybe("text_hash", mentions=Ids, finished_at=UtcDateTime),
    sa.Index(None, "team_id", "author_id"),
)

thread_signs = _table(
    "thread_signs",  # `Signs` says what its fields mean; NULL if the model's answer was unclear
    *_key("team_id", "channel_id", "thread_ts", "author_id"),
    *_needed("last_ts", asked_at=UtcDateTime),  # the last message that was read
    *_maybe(confirmed=Boolean, thanked=Boolean, contested=Boolean, handed_over=Boolean),
    sa.Index(None, "team_id", "asked_at"),
)

names = _table(
    # of channels and assistants, as Slack gave them last
    "names",
    *_key("team_id", "id"),
    *_needed(name=CleanText),
)

installations = _table(
    "installations",  # by OAuth
    *_key("team_id", "app_id"),  # of an organisation, the first is its enterprise id
    *_needed("name", installed_at=UtcDateTime),
    *_maybe(
        "token", left_at=UtcDateTime
    ),  # the token is encrypted, and NULL once the app was removed
)

oauth_states = _table("oauth_states", *_key("state"), *_needed(expires_at=UtcDateTime))

# Secrets of this installation, made when they are first needed
keys = _table("keys", *_key("name"), *_needed("value"))

notices = _table(
    # what each recipient is told once: of a watch, or, without a channel, a week's request for
    # labels
    "notices",
    *_key("team_id", "channel_id", "author_id", "name", "recipient"),
    *_needed("day", claimed_at=UtcDateTime),  # the day in UTC
    *_maybe(
        posted_at=UtcDateTime, is_refused=Boolean
    ),  # if refused, `claimed_at` is when it may be tried again
)

releases = _numbered(
    "releases",  # changes of a watched assistant; like a standing's, its channel may be empty
    *_needed("team_id", "channel_id", "author_id", "set_by", set_at=UtcDateTime, note=CleanText),
    *_needed(day=sa.Date),  # that of `set_at`, by the workspace's clock
    *_maybe("taken_back_by", taken_back_at=UtcDateTime),
    *_maybe(announced_at=UtcDateTime),  # when it was told, or else that it is taken back
    sa.Index(None, "team_id", "channel_id"),
)

thumbs = _table(
    "thumbs",  # those under replies that were scored or watched
    *_key("team_id", "channel_id", "ts", "user_id", is_up=Boolean),  # `ts` is the reply's
    *_needed(is_given=Boolean, changed_at=UtcDateTime),  # not given: taken back since
    sa.Index(None, "team_id", "user_id"),
    _index("ix_thumbs_taken_back", "changed_at", where=IS_TAKEN_BACK),
)

people = _table(
    "people",
    *_key("team_id", "user_id"),
    *_maybe("visibility"),  # of the verdicts that they ask for; NULL: the workspace's setting
    *_maybe(is_asked=Boolean),  # True: they agreed to be asked for blind labels
    *_needed(updated_at=UtcDateTime),
)

forgotten = _table(
    # who had their words forgotten, and when: what they wrote before the newest is not stored again
    "forgotten",
    *_key("team_id", "user_id", at=UtcDateTime),
)

audit = _numbered(
    "audit",  # `Act` says what its fields mean
    *_needed("team_id", "who", "what", at=UtcDateTime),
    *_maybe("channel_id", "user_id", case_id=Integer, cases=Integer),
    sa.Index(None, "at"),
)

spent = _numbered(
    "spent",  # used by cases that were forgotten on the same day, which still count in the limits
    *_needed(
        "team_id", "requester_id", tokens=Integer, created_at=UtcDateTime
    ),  # when the case was, not the row
    sa.Index(None, "created_at"),
)

digests = _table(
    "digests",
    *_key("team_id", "channel_id", "week"),  # the week is named by its end, as in `Week.label`
    *_needed("status", claimed_at=UtcDateTime),
    *_maybe("message_ts"),
)
