"""What has happened in the demo's workspace: three verdicts written by hand, and eight made-up
weeks of two assistants.

The weeks are in one channel whose name says that they are made up, and each verdict says so, too,
because nobody should mistake it for a judge's. They are enough for labels, causes, an alert and a
release. The last two are told by the app itself, which finds them due at its start, as it does the
digest.
"""

import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import (
    CaseSource,
    CaseStatus,
    LoggedCase,
    QuestionSource,
    Visibility,
    text_hash,
)
from bot.domain.verdict import MADE_UP, CaseVerdict
from bot.domain.watch import ReplyOutcome, Shows
from bot.domain.week import Schedule
from bot.pipeline.verdict_text import verdict_message
from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from bot.slack.mrkdwn import to_plain
from bot.store import Store, schema
from bot.store.cases import rating_rows, verdict_values
from judge import Rating, Unscored, load_rubric
from judge.scoring.ratings import UnscoredReason, combine
from pocket_slack import Clock, Message, Person, SystemClock, Workspace
from pocket_slack.workspace_file import MessageEntry, open_workspace

CHANNEL = "help-desk"
PAST_CHANNEL = "made-up-weeks"
SAID: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("demo_past.toml").read_text(encoding="utf-8")
)
WEEKS = 8
EXAMPLE = "Example: written by hand, not by a model."
_OFFLINE_NOTE = (
    ":warning: *No model is set up: the offline rater scores here, a word counter, not a judge.* "
    "It cannot tell what is true. Verdicts marked as examples show what a model's look like."
)
_NOTE = (
    ":warning: *The replies, scores and labels above are made up for the demo.* What the app "
    "makes of them follows: an alert, what a release has changed, and the week's digest."
)

_SEED = 5
_MEANS = {"helper": (2.9, 4.0), "drafter": (3.9, 1.8)}
"""The mean scores before the last week that is over, and since then: a release helped one, and the other got worse."""
_RELEASE = "answers with steps"
# replies of each assistant; the newest weeks, whose replies can be read
_A_WEEK = 24
_WITH_TEXTS = 4
_UNSCORED = 0.04
_LABELLED = 0.4
_LABELS_PER_WEEK = 50  # more than a week has cases, so all with texts can be scored blind
_SOON = timedelta(minutes=2)
Row = dict[str, Any]
"""A row of a table of the store."""


@dataclass(frozen=True)
class Reply:
    """A made-up reply of an assistant, to whom, and the score that it was given then; None: it is
    unscored.
    """

    author: str
    asker: str
    score: int | None
    at: datetime
    weeks_ago: int
    topic: dict[str, str]

    @property
    def quality(self) -> str:
        return (
            "fair"
            if self.score is None
            else ("poor", "poor", "poor", "fair", "good", "good")[self.score]
        )


def make_up(now: datetime) -> Sequence[Reply]:
    """The replies of eight weeks up to now, oldest first; always the same ones."""
    chance = random.Random(_SEED)  # noqa: S311 - the same past each time
    found = list[Reply]()
    week = Schedule.parse("monday", "09:00", "UTC").current(now)
    for back in range(WEEKS):
        its = week.before(back) if back else week
        length = min(its.end, now) - its.start
        topics = chance.sample(SAID["topics"] * 3, 2 * _A_WEEK)
        for number, topic in enumerate(topics):
            author = list(_MEANS)[number % 2]
            score = min(5, max(0, round(chance.gauss(_MEANS[author][back < 2], 1))))
            given = None if chance.random() < _UNSCORED else score
            asker = chance.choice(("ann", "ben"))
            found.append(
                Reply(
                    author, asker, given, its.start + length * chance.random() * 0.95, back, topic
                )
            )
    return sorted(found, key=lambda reply: reply.at)


def post_offline_note(workspace: Workspace) -> None:
    Person(workspace, workspace.bot.id).post(CHANNEL, _OFFLINE_NOTE)


def demo_workspace(clock: Clock | None = None) -> Workspace:
    """The workspace of demo.toml with the app, and the made-up replies; without a clock, it uses
    the machine's.
    """
    manifest = load_manifest(parts=[MESSAGE_EVENTS])
    file = Path(__file__).with_name("demo.toml")
    now = datetime.fromtimestamp((clock or SystemClock()).now(), UTC)
    said = [_thread(reply, now) for reply in make_up(now) if reply.weeks_ago < _WITH_TEXTS]
    return open_workspace(manifest, file, clock=clock, said={PAST_CHANNEL: said})


def _thread(reply: Reply, now: datetime) -> MessageEntry:
    asked = now - reply.at + 2 * _SOON
    answered = now - reply.at + _SOON
    answer = MessageEntry(author=reply.author, text=reply.topic[reply.quality], ago=answered)
    return MessageEntry(
        author=reply.asker, text=reply.topic["question"], ago=asked, replies=(answer,)
    )


async def write_past(database_url: str, workspace: Workspace) -> None:
    """Writes the past to a new store, and posts the verdicts."""
    async with await Store.open(database_url) as store:
        rows = _rows(workspace)

        async def write(connection: AsyncConnection) -> None:
            for table, its in rows.items():
                columns = dict.fromkeys(name for row in its for name in row)
                await connection.execute(
                    insert(schema.metadata.tables[table]), [columns | row for row in its]
                )

        await store.database.write(write)


def _rows(workspace: Workspace) -> dict[str, list[Row]]:
    now = datetime.fromtimestamp(workspace.clock.now(), UTC)
    replies = make_up(now)
    app = Person(workspace, workspace.bot.id)
    channel = workspace.channel(PAST_CHANNEL)
    team = {"team_id": workspace.team_id}
    answers = [each for each in channel.messages.values() if each.is_reply]
    place = team | {"channel_id": channel.id}
    messages = [*[None] * (len(replies) - len(answers)), *answers]
    week = Schedule.parse("monday", "09:00", "UTC").current(now)
    chance = random.Random(_SEED)  # noqa: S311
    rows: dict[str, list[Row]] = {
        "cases": [],
        "ratings": [],
        "labels": [],
        "causes": [],
        "replies": [],
    }
    for number, (reply, message) in enumerate(zip(replies, messages, strict=True), 1):
        key = team | {"case_id": number}
        author = workspace.user(reply.author)
        why = reply.topic[f"{reply.quality}_why"]
        verdict = _verdict([] if reply.score is None else [(reply.score, why)])
        case = _case(workspace, number, verdict, reply.at) | place | {"author_id": author.id}
        if message:
            case |= _of_message(workspace, message)
            seen: Row = {
                "ts": message.ts,
                "author_id": author.id,
                "parent_ts": message.thread_ts,
                "probability": 1.0,
            }
            seen |= {
                "outcome": ReplyOutcome.TAKEN,
                "rests_at": reply.at,
                "day": f"{reply.at:%Y-%m-%d}",
            }
            rows["replies"].append(place | seen)
        rows["cases"].append(case)
        rows["ratings"] += rating_rows(LoggedCase.model_validate(case), verdict.ratings)
        if reply.quality == "poor" and reply.weeks_ago < _WITH_TEXTS:
            label = (week.before(reply.weeks_ago) if reply.weeks_ago else week).label
            rows["causes"].append(
                place | {"week": label, "case_id": number, "name": reply.topic["cause"]}
            )
        if reply.score is not None and chance.random() < _LABELLED:
            person = workspace.user("ben" if reply.asker == "ann" else "ann")
            score = min(5, max(0, reply.score + chance.choice((-1, -1, 0, 0, 0, 1))))
            # As if drawn at random and labelled blind: the digest uses these to correct its mean.
            given = {
                "user_id": person.id,
                "score": score,
                "is_blind": True,
                "probability": _LABELLED,
            }
            rows["labels"].append(
                place | key | given | {"created_at": reply.at, "updated_at": reply.at}
            )
    for number, example in enumerate(SAID["examples"], len(replies) + 1):
        row, verdict = _example(workspace, number, example, now)
        logged = LoggedCase.model_validate(row)
        post = verdict_message(logged, verdict, EXAMPLE)
        row["reply_ts"] = app.post(
            CHANNEL, post.text, thread_ts=row["thread_ts"], blocks=post.blocks
        ).ts
        rows["cases"].append(row)
        rows["ratings"] += rating_rows(logged, verdict.ratings)
    app.post(PAST_CHANNEL, _NOTE)
    began = week.before(WEEKS).start
    helper = workspace.user("helper")
    of_channel = {"is_digest_on": True, "digest_since": began, "labels_per_week": _LABELS_PER_WEEK}
    rows["channels"] = [place | of_channel]
    watch = {
        "share": 1.0,
        "per_day": 0,
        "shows": Shows.NOTHING,
        "alerts_to": (channel.id,),
        "judge_version": MADE_UP,
    }
    watch |= {"since": began, "look_at": now, "read_until": now}
    rows["watches"] = [place | watch | {"author_id": workspace.user(name).id} for name in _MEANS]
    released = {
        "set_by": workspace.user("ben").id,
        "set_at": week.before().start,
        "note": _RELEASE,
        "needed": 20,
    }
    rows["releases"] = [place | released | {"author_id": helper.id}]
    return rows


def _verdict(said: Sequence[tuple[int, str]]) -> CaseVerdict:
    """The verdict of these scores and reasons; without any, unscored."""
    missing = Unscored(reason=UnscoredReason.NO_SCORE, detail="")
    ratings = [
        Rating(score=score, justification=words, raw="", model=MADE_UP) for score, words in said
    ]
    verdict = combine(ratings, rubric=load_rubric("additive-5"), unscored=missing, model=MADE_UP)
    return CaseVerdict(
        **vars(verdict) | {"judge_version": MADE_UP if said else None, "cost_usd": None}
    )


def _case(workspace: Workspace, number: int, verdict: CaseVerdict, at: datetime) -> Row:
    """A case that a watch drew and whose texts are not stored."""
    return verdict_values(verdict) | {
        "id": number,
        "team_id": workspace.team_id,
        "key": f"made-up-{number}",
        "message_ts": f"{(at - _SOON).timestamp():.6f}",
        "requester_id": workspace.bot.id,
        "requester_name": workspace.bot.name,
        "source": CaseSource.WATCH,
        "rubric": verdict.rubric,
        "visibility": Visibility.THREAD,
        "attempt": 1,
        "probability": 1.0,
        "shows": Shows.NOTHING,
        "question_source": QuestionSource.PREVIOUS,
        "status": CaseStatus.DELIVERED,
        "created_at": at,
        "judged_at": at,
        "delivered_at": at,
    }


def _of_message(workspace: Workspace, message: Message) -> Row:
    parent = workspace.channels[message.channel_id].messages[message.thread_ts or ""]
    texts = {"question": to_plain(parent.text), "response": to_plain(message.text)}
    hashes = {f"{name}_hash": text_hash(text) for name, text in texts.items()}
    asked = dict.fromkeys(("parent_ts", "thread_ts", "question_ts"), parent.ts)
    return (
        texts | hashes | asked | {"question_author_id": parent.author.id, "message_ts": message.ts}
    )


def _example(
    workspace: Workspace, number: int, example: dict[str, Any], now: datetime
) -> tuple[Row, CaseVerdict]:
    channel = workspace.channel(CHANNEL)
    begins = example["question_begins"]
    verdict = _verdict(example["said"])
    message = next(each for each in channel.messages.values() if each.text.startswith(begins))
    (reply,) = [each for each in channel.replies(message.ts) if each.author.bot_id]
    asked: Row = {
        "channel_id": channel.id,
        "author_id": reply.author.id,
        "probability": None,
        "shows": None,
    }
    asked |= {
        "requester_id": message.author.id,
        "requester_name": message.author.name,
        "source": CaseSource.SHORTCUT,
    }
    return _case(workspace, number, verdict, now) | _of_message(workspace, reply) | asked, verdict
