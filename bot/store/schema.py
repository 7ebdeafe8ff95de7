"""The tables.

Every key contains the team id, because two workspaces may have the same channel and user ids.
"""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import JSON, Boolean, Float, Integer, String, Text

from bot.store.tables import (
    OPTIONAL_JSON,
    CleanText,
    Condition,
    Ids,
    UtcDateTime,
    index,
    index_of_known,
    key_columns,
    needed,
    new_table,
    numbered,
    of_case,
    optional,
)

IS_UNSETTLED = sa.text("status != 'delivered'")
IS_OPEN = sa.text("cases.status IN ('received', 'judged')")
"""A case that is still to be settled; the others are done, or wait for a person. Written out: lists compile slowly."""
_COUNTS = sa.text(
    "message_ts IS NOT NULL AND visibility = 'thread' AND blocker IS NULL AND blocked_by IS NULL "
    "AND excluded IS NULL AND probability IS NULL"
)
_FIGURES = (
    *("team_id", "channel_id", "judged_at", "lowest", "highest", "score", "author_id"),
    *("requester_id", "thread_ts", "unscored_reason", "model", "judge_version", "input_tokens"),
    *("output_tokens", "cost_usd", "skipped_ratings", "unread"),
)
_REPEATS = ("team_id", "channel_id", "judged_at", "message_ts", "attempt")
_SHOWN = ("visibility", "blocker", "blocked_by", "excluded", "probability")
_WATCHED = sa.text("probability IS NOT NULL AND excluded IS NULL")
_REPEATED = sa.text("attempt > 1")
IS_WAITED_FOR = sa.text("outcome IS NULL")
IS_TAKEN_BACK = sa.text("NOT is_given")
IS_STALE = sa.text("is_stale")
"""Written as in the index, like IS_UNSETTLED; SQLAlchemy's own `is_stale = 1` would not use it."""


# Alembic's own table
alembic_version = new_table("alembic_version", *key_columns(version_num=String(32)))

cases = numbered(
    "cases",  # `LoggedCase` and `CaseVerdict` say what their fields mean
    *needed("team_id", "key", "channel_id", "requester_id", "requester_name", "source", "rubric"),
    *needed("visibility", "status", attempt=Integer, created_at=UtcDateTime),
    *needed(opened=Integer, messages=Integer, default="1"),
    *needed(messages_before=Integer, left_out=Integer, slack_tries=Integer, default="0"),
    *needed(model_tries=Integer, internal_errors=Integer, default="0"),
    *needed(
        thread_intent=Boolean,
        reply_intent=Boolean,
        is_stale=Boolean,  # the verdict in Slack does not show yet what happened to its words
        default=sa.false(),
    ),
    *needed(flags=JSON, default="[]"),
    *optional(
        *("message_ts", "parent_ts", "author_id", "thread_ts", "reply_ts", "lease_owner"),
        *("blocked_by", "excluded", "shows", "way", "unread"),
        *("question_source", "question_ts", "question_author_id", "question_hash", "response_hash"),
        *("model", "rubric_version", "judge_version", "unscored_reason"),
        probability=Float,
        blocker=CleanText,
        response_url=Text,
        question=CleanText,
        response=CleanText,
        judged_at=UtcDateTime,
        delivered_at=UtcDateTime,
        unscored_detail=CleanText,
        justification=CleanText,
        points=OPTIONAL_JSON,
        score=Integer,
        lowest=Integer,
        highest=Integer,
        mean=Float,
        spread=Float,
        weighted_score=Float,
        cost_usd=Float,
        input_tokens=Integer,
        output_tokens=Integer,
        reasoning_tokens=Integer,
        skipped_ratings=Integer,
        latency_ms=Integer,
        edited_at=UtcDateTime,
        deleted_at=UtcDateTime,
        forgotten_at=UtcDateTime,
    ),
    sa.UniqueConstraint("team_id", "key"),
    sa.UniqueConstraint("team_id", "id"),
    index("team_id", "channel_id", "message_ts"),
    index("team_id", "channel_id", "judged_at"),
    index("team_id", "requester_id", "created_at"),
    index("team_id", "judged_at"),
    index("created_at"),
    index_of_known("team_id", "channel_id", "question_ts"),
    index_of_known("team_id", "channel_id", "thread_ts"),
    index_of_known("team_id", "author_id"),
    index_of_known("team_id", "question_author_id"),
    index("id", name="ix_cases_stale", where=IS_STALE),
    index(
        "team_id",
        "channel_id",
        "requester_id",
        "status",
        name="ix_cases_unsettled",
        where=IS_UNSETTLED,
    ),
    # The digest's figures come from these two alone; SQLite needs the condition's columns in them,
    # too.
    index(*_FIGURES, "message_ts", *_SHOWN, name="ix_cases_figures", where=_COUNTS),
    index(*_FIGURES, "probability", "excluded", name="ix_cases_watched", where=_WATCHED),
    index(*_REPEATS, *_SHOWN, name="ix_cases_repeated", where=_REPEATED),
    sa.CheckConstraint("score IS NULL OR unscored_reason IS NULL", name="scored_or_not"),
)


def is_of_case(table: sa.FromClause, case: sa.FromClause = cases) -> Condition:
    """Whether a row is one of a case: a condition to join them by."""
    return sa.and_(table.c.team_id == case.c.team_id, table.c.case_id == case.c.id)


def rows_of_cases(
    table: sa.Table, which: Condition, **values: Any
) -> tuple[Sequence[str], sa.Select[Any]]:
    """What `from_select` inserts: a row for each of these cases, selected because a case may be
    gone by now.
    """
    its = [sa.literal(value, table.c[name].type) for name, value in values.items()]
    return ["team_id", "case_id", *values], sa.select(cases.c.team_id, cases.c.id, *its).where(
        which
    )


turns = new_table(
    # the messages that a case was read from, if there are more than its question and its reply
    "turns",
    *key_columns("team_id", case_id=Integer, position=Integer),
    *needed("channel_id", "part", "ts", "role", "text_hash"),
    *optional("author_id", text=CleanText),
    index("team_id", "channel_id", "ts"),
    index("team_id", "author_id"),
    of_case(),
)

ratings = new_table(
    "ratings",
    *key_columns("team_id", case_id=Integer, position=Integer),
    *needed(justification=CleanText, raw=CleanText),
    *optional("unscored_reason", "model", "served", score=Integer),
    *optional(weighted_score=Float, coverage=Float, cost_usd=Float, latency_ms=Integer),
    *optional(input_tokens=Integer, output_tokens=Integer, reasoning_tokens=Integer),
    *optional(probabilities=OPTIONAL_JSON, points=OPTIONAL_JSON),
    of_case(),
    sa.CheckConstraint("(score IS NULL) <> (unscored_reason IS NULL)", name="scored_or_not"),
)

# Posts, beside verdicts, that quote the judge's reason for a case
quotes = new_table(
    "quotes", *key_columns("team_id", case_id=Integer, channel_id=String, ts=String), of_case()
)

causes = new_table(
    "causes",  # of the low replies of a channel's week
    *key_columns("team_id", "channel_id", "week", case_id=Integer),
    *needed(name=CleanText),
    index("team_id", "case_id"),
    of_case(),
)

labels = new_table(
    "labels",
    *key_columns("team_id", case_id=Integer, user_id=String),
    *needed("channel_id", default=""),  # the case's, for finding a channel's labels
    *needed(score=Integer, created_at=UtcDateTime, updated_at=UtcDateTime),
    *optional(reason=CleanText),
    *optional(probability=Float),  # that of the draw for a blind label
    *needed(is_blind=Boolean, default=sa.false()),
    index("team_id", "channel_id", "case_id", "score", name="ix_labels_figures"),
    of_case(),
)

contradicted = new_table(
    "contradicted",  # replies whose asker has said the opposite of their scores, ever since
    *key_columns("team_id", case_id=Integer),
    of_case(),
)

assignments = new_table(
    # cases that a person was shown for a blind label, or was told the score of
    "label_assignments",
    *key_columns("team_id", "user_id", case_id=Integer),
    *needed(probability=Float),  # 0 if they were never shown it for a label
    *needed(drawn_at=UtcDateTime),
    *optional("outcome"),  # NULL: the modal was opened, and not answered
    of_case(),
)

processes = new_table(
    "processes",
    *key_columns("id"),
    *needed("host", pid=Integer, is_connected=Boolean, seen_at=UtcDateTime),
)

channels = new_table(
    "channels",  # `ChannelSettings` and `ChannelJudge` say what their fields mean
    *key_columns("team_id", "channel_id"),
    *needed(is_digest_on=Boolean, default=sa.false()),
    *optional("digest_day", "digest_time", "digest_tz", "score_reaction"),
    *optional("rubric", "rubric_version", "judge_model"),
    *optional(digest_since=UtcDateTime, labels_per_week=Integer, reference=CleanText),
)

rubrics = new_table(
    "rubrics",  # those made in channels; each saved version is a row
    # The number counts the saved versions, from 1; the version is a hash of the prompt.
    *key_columns("team_id", "channel_id", "name", number=Integer),
    *needed("version", "saved_by", prompt=Text, saved_at=UtcDateTime),
)

watches = new_table(
    "watches",  # `Watch` says what its fields mean
    *key_columns("team_id", "channel_id", "author_id"),
    *needed("shows", share=Float, per_day=Integer, since=UtcDateTime),
    *optional("ask", alerts_to=Ids, floor=Float, low_since=UtcDateTime),
    *needed(look_at=UtcDateTime),  # when the channel is to be read next
    *needed(read_until=UtcDateTime),  # everything written before has been found
    *optional("not_read"),  # Slack's error if the last look failed; otherwise NULL
    *needed(is_private=Boolean, default=sa.true()),  # as Slack said last; until then, to be safe
    *needed(is_derived=Boolean, default=sa.false()),
    *optional(except_in=Ids),
)

standings = numbered(
    "standings",  # `Standing` says what its fields mean; the newest of a subject is its standing now
    *needed("team_id", "channel_id", "author_id", "direction", lowest=Integer, highest=Integer),
    *needed(stored_at=UtcDateTime, looked_at=UtcDateTime, n=Integer, asked=Integer),
    *needed("why", "questions", default=""),
    *needed(is_to_tell=Boolean, default=sa.false()),
    *optional("version", "event", "whose", ended=Ids, told_at=UtcDateTime),
    # It is none of those, but how scores have changed with a release.
    *optional(release_id=Integer),
    # The row of the subject before it, 0 if it is the first. Only one can follow on each, however
    # many processes find the same change. NULL: not kept, or the effect of a release.
    *optional(follows=Integer),
    *optional(since=sa.Date, begun_on=sa.Date, origin=sa.Date, judged_on=sa.Date),
    *optional(level=Float, level_low=Float, level_high=Float, before=Float),
    *optional(step=Float, step_low=Float, step_high=Float),
    *optional(judge_step=Float, judge_low=Float, judge_high=Float),
    index("team_id", "channel_id", "author_id", "follows", unique=True),
    index("release_id", unique=True),
)

replies = new_table(
    "replies",  # those that a watch has seen
    *key_columns("team_id", "channel_id", "ts"),
    *needed("author_id", "day", probability=Float),  # the day on which it was written, in UTC
    *optional("parent_ts"),
    *optional("last_ts"),  # its newest message, if it has several
    *optional("ended_ts"),  # the first message by somebody else after it in its thread
    *optional("outcome"),  # NULL: it was drawn, and waits to be scored
    *optional("text_hash"),  # of the text last seen, until it is settled
    *needed(rests_at=UtcDateTime),  # when it is looked at, unless it is edited before
    index("team_id", "channel_id", "parent_ts"),
    index("team_id", "rests_at", name="ix_replies_waiting", where=IS_WAITED_FOR),
    index("team_id", "channel_id", "author_id", "day", "outcome", name="ix_replies_figures"),
)

seen_messages = new_table(
    "seen_messages",  # `SeenMessage` says what its fields mean; no words
    *key_columns("team_id", "channel_id", "ts"),
    *needed("thread_ts", "author_id", "says", is_app=Boolean),
    *optional("text_hash", mentions=Ids, finished_at=UtcDateTime),
    index("team_id", "author_id"),
)

# What a question is about: that of a scored reply is known by the case, one without an answer by its
# message. It goes with either.
topics = numbered(
    "topics",
    *needed("team_id", "channel_id", "author_id", name=CleanText),  # the author is the assistant
    *optional("question_ts", case_id=Integer),
    index("team_id", "case_id", unique=True),
    index("team_id", "channel_id", "question_ts", "author_id", unique=True),
    of_case(),
    sa.ForeignKeyConstraint(
        ["team_id", "channel_id", "question_ts"],
        ["seen_messages.team_id", "seen_messages.channel_id", "seen_messages.ts"],
        ondelete="CASCADE",
        onupdate="CASCADE",
    ),
)

thread_signs = new_table(
    "thread_signs",  # `Signs` says what its fields mean; NULL if the model's answer was unclear
    *key_columns("team_id", "channel_id", "thread_ts", "author_id"),
    *needed("last_ts", asked_at=UtcDateTime),  # the last message that was read
    *optional(held_until=UtcDateTime),  # a process is asking the model until then
    *optional(confirmed=Boolean, thanked=Boolean, contested=Boolean, handed_over=Boolean),
    index("team_id", "asked_at"),
)

names = new_table(
    # of channels and assistants, as Slack gave them last
    "names",
    *key_columns("team_id", "id"),
    *needed(name=CleanText),
)

installations = new_table(
    "installations",  # by OAuth
    *key_columns("team_id", "app_id"),  # of an organisation, the first is its enterprise id
    *needed("name", installed_at=UtcDateTime),
    # the token is encrypted, and NULL once the app was removed
    *optional("token", "organisation_id", "installed_by", left_at=UtcDateTime),
)

oauth_states = new_table(
    "oauth_states",  # those that were used
    *key_columns("state"),
    *needed(expires_at=UtcDateTime),
    index("expires_at"),
)

# Secrets of this installation, made when they are first needed
keys = new_table("keys", *key_columns("name"), *needed("value"))

notices = new_table(
    # what each recipient is told once: of a watch, or, without a channel, a week's request for
    # labels
    "notices",
    *key_columns("team_id", "channel_id", "author_id", "name", "recipient"),
    *needed("day", claimed_at=UtcDateTime),  # the day in UTC
    # If refused, `claimed_at` is when it may be tried again.
    *optional(posted_at=UtcDateTime, is_refused=Boolean),
)

releases = numbered(
    "releases",  # changes of a watched assistant; like a standing's, its channel may be empty
    *needed("team_id", "channel_id", "author_id", "set_by", set_at=UtcDateTime, note=CleanText),
    *needed(day=sa.Date),  # that of `set_at`, by the workspace's clock
    *optional("taken_back_by", taken_back_at=UtcDateTime),
    *optional(announced_at=UtcDateTime),  # when it was told, or else that it is taken back
    index("team_id", "channel_id"),
)

thumbs = new_table(
    "thumbs",  # those under replies that were scored or watched
    *key_columns("team_id", "channel_id", "ts", "user_id", is_up=Boolean),  # `ts` is the reply's
    *needed(is_given=Boolean, changed_at=UtcDateTime),  # not given: taken back since
    index("team_id", "user_id"),
    index("changed_at", name="ix_thumbs_taken_back", where=IS_TAKEN_BACK),
)

people = new_table(
    "people",
    *key_columns("team_id", "user_id"),
    *optional("visibility"),  # of the verdicts that they ask for; NULL: the workspace's setting
    *optional(is_asked=Boolean),  # True: they agreed to be asked for blind labels
    *needed(updated_at=UtcDateTime),
)

forgotten = new_table(
    # who had their words forgotten, and when: what they wrote before the newest is not stored again
    "forgotten",
    *key_columns("team_id", "user_id", at=UtcDateTime),
)

audit = numbered(
    "audit",  # `Act` says what its fields mean
    *needed("team_id", "who", "what", at=UtcDateTime),
    *optional("channel_id", "user_id", case_id=Integer, cases=Integer),
    index("at"),
)

spent = numbered(
    "spent",  # cases that were forgotten on the same day, and requests beside cases: both count in the limits
    *needed("team_id", "requester_id", created_at=UtcDateTime),  # when the case was, not the row
    index("created_at"),
)

digests = new_table(
    "digests",
    # The week is named by its end, as in `Week.label`.
    *key_columns("team_id", "channel_id", "week"),
    *needed("status", claimed_at=UtcDateTime),
    *optional("message_ts"),
)
