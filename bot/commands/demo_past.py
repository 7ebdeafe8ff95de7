"""What has happened in the demo's workspace: three verdicts written by hand, and eight made-up
weeks of two assistants.

The weeks are in one channel whose name says that they are made up, and each verdict says so, too,
because nobody should mistake it for a judge's. They are enough for labels, causes, an alert and a
release. The last two are told by the app itself, which finds them due at its start, as it does the
digest.
"""

import asyncio
import csv
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Table, insert

from bot.domain.case import Case, CaseSource, LoggedCase, QuestionSource, Visibility
from bot.domain.questions import Says, to_time
from bot.domain.verdict import MADE_UP, CaseVerdict
from bot.domain.watch import ReplyOutcome, Shows
from bot.domain.week import Schedule, Week
from bot.pipeline.verdict_text import verdict_message
from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from bot.slack.mrkdwn import to_plain
from bot.store import Store, schema
from judge import Rating, Unscored, load_rubric
from judge.scoring.ratings import UnscoredReason, combine
from pocket_slack import Clock, Message, Person, SystemClock, Workspace
from pocket_slack.workspace_file import MessageEntry, open_workspace

CHANNEL = "help-desk"
PAST_CHANNEL = "made-up-weeks"
EXAMPLE = "Example: written by hand, not by a model."
_FOLDER = Path(__file__).parent
SAID: dict[str, Any] = tomllib.loads((_FOLDER / "demo_past.toml").read_text(encoding="utf-8"))
_OFFLINE_NOTE = (
    ":warning: *No model is set up: the offline rater scores here, a word counter, not a judge.* "
    "It cannot tell what is true. Verdicts marked as examples show what a model's look like."
)
_NOTE = (
    ":warning: *The replies, scores and labels above are made up for the demo.* What the app "
    "makes of them follows: an alert, what a release has changed, and the week's digest."
)
_WEEKS = 8
# At any hour two whole weeks are over since the release: one has too few scores to compare.
_RELEASED = timedelta(days=15)
_WITH_TEXTS = 4  # the newest weeks, whose replies stand in the channel
_SOON = timedelta(minutes=2)
_MENTION = re.compile(r"<@(\w+)>")
_Row = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """A made-up reply of an assistant, to whom, and what it was given then.

    Without a score it is unscored; without a label nobody gave one.
    """

    number: int
    author: str
    asker: str
    at: datetime
    weeks_ago: int
    topic: dict[str, str]
    score: int | None
    label: int | None

    @property
    def quality(self) -> str:
        if self.score is None or self.score == 3:
            return "fair"
        return "good" if self.score > 3 else "poor"


def read_replies(now: datetime) -> Sequence[Reply]:
    """The replies of eight weeks up to now, oldest first.

    The file says how many weeks ago each was written, and where in that week, from 0 to 1; of the
    week that is not over, where in the part that is. Its topics are those of demo_past.toml, from 1.
    """
    replies = []
    with (_FOLDER / "demo_past.csv").open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), start=1):
            week = _week(now, int(row["weeks_ago"]))
            length = min(week.end, now) - week.start
            reply = Reply(
                number=number,
                author=row["assistant"],
                asker=row["asker"],
                at=week.start + length * float(row["position"]),
                weeks_ago=int(row["weeks_ago"]),
                topic=SAID["topics"][int(row["topic"]) - 1],
                score=int(row["score"]) if row["score"] else None,
                label=int(row["label"]) if row["label"] else None,
            )
            replies.append(reply)
    return replies


def _week(now: datetime, weeks_ago: int) -> Week:
    current = Schedule.parse("monday", "09:00", "UTC").current(now)
    return current.before(weeks_ago) if weeks_ago else current


def post_offline_note(workspace: Workspace) -> None:
    Person(workspace, workspace.bot.id).post(CHANNEL, _OFFLINE_NOTE)


def demo_workspace(clock: Clock | None = None) -> Workspace:
    """The workspace of demo.toml with the app, and the made-up replies; without a clock, it uses
    the machine's.
    """
    now = datetime.fromtimestamp((clock or SystemClock()).now(), UTC)
    replies = [reply for reply in read_replies(now) if reply.weeks_ago < _WITH_TEXTS]
    return open_workspace(
        load_manifest(parts=[MESSAGE_EVENTS]),
        _FOLDER / "demo.toml",
        clock=clock,
        said={PAST_CHANNEL: [*(_thread(reply, now) for reply in replies), *_unanswered()]},
    )


def _thread(reply: Reply, now: datetime) -> MessageEntry:
    age = now - reply.at
    answer = MessageEntry(author=reply.author, text=reply.topic[reply.quality], ago=age + _SOON)
    said = [answer]
    after = _said_after(reply)
    if after and age > _SOON:
        author = reply.asker if after["by_asker"] else _other(reply.asker)
        said.append(MessageEntry(author=author, text=after["text"], ago=age - _SOON))
    return MessageEntry(
        author=reply.asker, text=reply.topic["question"], ago=age + 2 * _SOON, replies=tuple(said)
    )


def _said_after(reply: Reply) -> dict[str, Any]:
    """What somebody wrote after a reply of that quality, as in demo_past.toml; empty for most."""
    said: Sequence[dict[str, Any]] = SAID["after"][reply.quality]
    place = reply.number % SAID["after"]["every"]
    fitting = [after for after in said if place in after["at"]]
    return fitting[0] if fitting else {}


def _other(asker: str) -> str:
    return "ben" if asker == "ann" else "ann"


def _unanswered() -> list[MessageEntry]:
    return [
        MessageEntry(author=asked["by"], text=asked["text"], ago=timedelta(hours=asked["hours"]))
        for asked in SAID["unanswered"]
    ]


async def write_past(database_url: str, workspace: Workspace) -> None:
    """Writes the past to a new store, and posts the verdicts."""
    now = datetime.fromtimestamp(workspace.clock.now(), UTC)
    async with await Store.open(database_url) as store:
        await _Past(store, workspace, now).write()


@dataclass(frozen=True)
class _Past:
    store: Store
    workspace: Workspace
    now: datetime

    async def write(self) -> None:
        replies = read_replies(self.now)
        messages = self.workspace.channel(PAST_CHANNEL).messages.values()
        answers = [message for message in messages if message.is_reply and message.author.bot_id]
        without_texts = [None] * (len(replies) - len(answers))
        # All at once, so that they share transactions.
        writing = map(self._write_reply, replies, [*without_texts, *answers])
        settled = await asyncio.gather(*writing)
        await self._write_beside(replies, settled)
        await self._write_seen(replies[-len(answers) :], answers)
        await self._write_choices()
        for example in SAID["examples"]:
            await self._write_example(example)
        Person(self.workspace, self.workspace.bot.id).post(PAST_CHANNEL, _NOTE)

    @property
    def _place(self) -> dict[str, str]:
        channel_id = self.workspace.channel(PAST_CHANNEL).id
        return {"team_id": self.workspace.team_id, "channel_id": channel_id}

    async def _insert(self, table: Table, rows: Sequence[_Row]) -> None:
        placed = [{**self._place, **row} for row in rows]
        await self.store.database.execute(insert(table).values(placed))

    async def _write_reply(self, reply: Reply, message: Message | None) -> LoggedCase:
        """A case that a watch drew; without a message, its texts are not stored."""
        case = Case(
            **self._place,
            key=f"made-up-{reply.number}",
            requester_id=self.workspace.bot.id,
            requester_name=self.workspace.bot.name,
            source=CaseSource.WATCH,
            rubric="additive-5",
            visibility=Visibility.THREAD,
            message_ts=f"{(reply.at - _SOON).timestamp():.6f}",
            author_id=self.workspace.user(reply.author).id,
            probability=1.0,
            shows=Shows.NOTHING,
        )
        if message:
            case = self._with_texts(case, message)
        ratings = []
        if reply.score is not None:
            ratings.append((reply.score, reply.topic[f"{reply.quality}_why"]))
        store = self._store_at(reply.at)
        judged = await _judge(store, case, _verdict(ratings))
        return await store.note_delivered(judged)

    def _store_at(self, moment: datetime) -> Store:
        """The same store, in which it is that time."""
        return Store(self.store.database, clock=lambda: moment)

    def _with_texts(self, case: Case, message: Message) -> Case:
        channel = self.workspace.channels[message.channel_id]
        parent = channel.messages[message.thread_ts or ""]
        texts = {
            "message_ts": message.ts,
            "parent_ts": parent.ts,
            "question": to_plain(parent.text),
            "question_source": QuestionSource.PREVIOUS,
            "question_ts": parent.ts,
            "question_author_id": parent.author.id,
            "response": to_plain(message.text),
        }
        return case.model_copy(update=texts)

    async def _write_beside(self, replies: Sequence[Reply], settled: Sequence[LoggedCase]) -> None:
        """What the watches have seen, people's labels, and the causes of low scores."""
        seen: list[_Row] = []
        labels: list[_Row] = []
        causes: list[_Row] = []
        for reply, case in zip(replies, settled, strict=True):
            if reply.label is not None:
                labels.append(self._label(reply, case))
            seen.append(_seen(reply, case))
            if case.response is not None and reply.quality == "poor":
                week = _week(self.now, reply.weeks_ago).label
                causes.append({"case_id": case.id, "week": week, "name": reply.topic["cause"]})
        await self._insert(schema.replies, seen)
        await self._insert(schema.labels, labels)
        await self._insert(schema.causes, causes)

    async def _write_seen(self, replies: Sequence[Reply], answers: Sequence[Message]) -> None:
        """The messages of the channel without their words, and what a model would read in threads."""
        messages = self.workspace.channel(PAST_CHANNEL).messages.values()
        await self._insert(schema.seen_messages, [_seen_message(message) for message in messages])
        newest = {message.thread_ts: message.ts for message in messages}
        signs = [
            {
                **after["signs"],
                "thread_ts": answer.thread_ts,
                "author_id": answer.author.id,
                "last_ts": newest[answer.thread_ts],
                "asked_at": self.now,
            }
            for reply, answer in zip(replies, answers, strict=True)
            if (after := _said_after(reply))
        ]
        await self._insert(schema.thread_signs, signs)

    def _label(self, reply: Reply, case: LoggedCase) -> _Row:
        person = self.workspace.user(_other(reply.asker))
        return {
            **SAID["label"],
            "case_id": case.id,
            "user_id": person.id,
            "score": reply.label,
            "created_at": reply.at,
            "updated_at": reply.at,
        }

    async def _write_choices(self) -> None:
        began = _week(self.now, _WEEKS).start
        released_at = self.now - _RELEASED
        ben = self.workspace.user("ben").id
        helper = self.workspace.user("helper").id
        drafter = self.workspace.user("drafter").id
        names = {self._place["channel_id"]: PAST_CHANNEL, helper: "helper", drafter: "drafter"}
        for id_, name in names.items():
            await self.store.names.note(self.workspace.team_id, id_, name)
        await self.store.channels.save(**self._place, by=ben, digest_since=began, **SAID["channel"])
        watch = {
            **SAID["watch"],
            "alerts_to": (self._place["channel_id"],),
            "since": began,
            "look_at": self.now,
            "read_until": self.now,
        }
        watches = [{**watch, "author_id": author} for author in (helper, drafter)]
        await self._insert(schema.watches, watches)
        release = {
            **SAID["release"],
            "author_id": helper,
            "set_by": ben,
            "set_at": released_at,
            "channel_id": "",  # all public ones
            "day": released_at.date(),
            "announced_at": self.now,
        }
        await self._insert(schema.releases, [release])

    async def _write_example(self, example: dict[str, Any]) -> None:
        """A verdict written by hand on a reply in the other channel, and its post there."""
        channel = self.workspace.channel(CHANNEL)
        begins = example["question_begins"]
        (asked,) = [each for each in channel.messages.values() if each.text.startswith(begins)]
        (reply,) = [each for each in channel.replies(asked.ts) if each.author.bot_id]
        case = Case(
            team_id=self.workspace.team_id,
            channel_id=channel.id,
            key=f"made-up-{reply.ts}",
            requester_id=asked.author.id,
            requester_name=asked.author.name,
            source=CaseSource.SHORTCUT,
            rubric="additive-5",
            visibility=Visibility.THREAD,
            author_id=reply.author.id,
        )
        store = self._store_at(self.now)
        verdict = _verdict(example["said"])
        judged = await _judge(store, self._with_texts(case, reply), verdict)
        post = verdict_message(judged, verdict, EXAMPLE)
        app = Person(self.workspace, self.workspace.bot.id)
        posted = app.post(CHANNEL, post.text, thread_ts=asked.ts, blocks=post.blocks)
        await store.note_delivered(judged.model_copy(update={"reply_ts": posted.ts}))


def _seen_message(message: Message) -> _Row:
    return {
        "ts": message.ts,
        "thread_ts": message.thread_ts or message.ts,
        "author_id": message.author.id,
        "is_app": message.author.bot_id is not None,
        "says": Says.WORDS,
        "mentions": tuple(_MENTION.findall(message.text)),
        "finished_at": to_time(message.ts),
    }


def _seen(reply: Reply, case: LoggedCase) -> _Row:
    """What a watch notes of a reply that it has seen, and drawn as all others."""
    return {
        "ts": case.message_ts,
        "parent_ts": case.parent_ts,
        "author_id": case.author_id,
        "probability": 1.0,
        "outcome": ReplyOutcome.MISSED if reply.score is None else ReplyOutcome.TAKEN,
        "rests_at": reply.at,
        "day": f"{reply.at:%Y-%m-%d}",
    }


async def _judge(store: Store, case: Case, verdict: CaseVerdict) -> LoggedCase:
    added, _ = await store.add(case)
    in_thread = added.model_copy(update={"thread_ts": case.parent_ts})
    return await store.record(in_thread, verdict)


def _verdict(ratings: Sequence[tuple[int, str]]) -> CaseVerdict:
    """The verdict of these scores and reasons; without any, it is unscored."""
    verdict = combine(
        [
            Rating(score=score, justification=reason, raw="", model=MADE_UP)
            for score, reason in ratings
        ],
        rubric=load_rubric("additive-5"),
        unscored=Unscored(reason=UnscoredReason.NO_SCORE, detail=""),
        model=MADE_UP,
    )
    of_case = CaseVerdict(**vars(verdict), judge_version=MADE_UP if ratings else None)
    return replace(of_case, cost_usd=None)
