"""What has happened in the demo's workspace: three verdicts written by hand, and eight made-up
weeks of two assistants.

The weeks are in one channel whose name says that they are made up, and each verdict says so, too,
because nobody should mistake it for a judge's. They are enough for labels, causes, an alert and a
release. The last two are told by the app itself, which finds them due at its start, as it does the
digest.
"""

import asyncio
import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Table, insert

from bot.domain.case import Case, CaseSource, LoggedCase, QuestionSource, Visibility
from bot.domain.questions import Says, to_time
from bot.domain.verdict import MADE_UP, CaseVerdict
from bot.domain.watch import ReplyOutcome, Shows
from bot.domain.week import Schedule
from bot.pipeline.verdict_text import verdict_message
from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from bot.slack.mrkdwn import to_plain
from bot.store import Store, schema
from judge import Rating, Unscored, load_rubric
from judge.scoring.ratings import Result, UnscoredReason, combine
from pocket_slack import Clock, Message, Person, Workspace
from pocket_slack.workspace_file import MessageEntry, open_workspace

CHANNEL = "help-desk"
PAST_CHANNEL = "made-up-weeks"
EXAMPLE = "Example: written by hand, not by a model."
_RUBRIC = load_rubric("additive-5")
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
_BEGAN = timedelta(weeks=8)
# At any hour two whole weeks are over since the release: one has too few scores to compare.
_RELEASED = timedelta(days=15)
_SOON = timedelta(minutes=2)
_MENTION = re.compile(r"<@(\w+)>")
_Row = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """A made-up reply of an assistant, to whom, and what it was given: a line of demo_past.jsonl.

    Without a score it is unscored; without a label nobody gave one. `topic` and `after` are numbers
    in demo_past.toml, from 1.
    """

    hours_ago: float
    author: str
    asker: str
    topic: int
    quality: str
    score: int | None = None
    label: int | None = None
    after: int | None = None

    @property
    def texts(self) -> dict[str, str]:
        topic: dict[str, str] = SAID["topics"][self.topic - 1]
        return topic

    @property
    def colleague(self) -> str:
        return "ben" if self.asker == "ann" else "ann"


@cache
def read_replies() -> Sequence[Reply]:
    lines = (_FOLDER / "demo_past.jsonl").read_text(encoding="utf-8").splitlines()
    return [Reply(**json.loads(line)) for line in lines]


def post_offline_note(workspace: Workspace) -> None:
    Person(workspace, workspace.bot.id).post(CHANNEL, _OFFLINE_NOTE)


def demo_workspace(clock: Clock | None = None) -> Workspace:
    """The workspace of demo.toml with the app, and the made-up replies; without a clock, it uses
    the machine's.
    """
    unanswered = [
        MessageEntry(author=asked["by"], text=asked["text"], ago=timedelta(hours=asked["hours"]))
        for asked in SAID["unanswered"]
    ]
    return open_workspace(
        load_manifest(parts=[MESSAGE_EVENTS]),
        _FOLDER / "demo.toml",
        clock=clock,
        said={PAST_CHANNEL: [*map(_thread, read_replies()), *unanswered]},
    )


def _thread(reply: Reply) -> MessageEntry:
    ago = timedelta(hours=reply.hours_ago)
    thread = [MessageEntry(author=reply.author, text=reply.texts[reply.quality], ago=ago)]
    if reply.after:
        after = SAID["after"][reply.after - 1]
        author = reply.asker if after["by_asker"] else reply.colleague
        thread.append(MessageEntry(author=author, text=after["text"], ago=ago - _SOON))
    question = reply.texts["question"]
    return MessageEntry(author=reply.asker, text=question, ago=ago + _SOON, replies=tuple(thread))


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
        messages = self.workspace.channel(PAST_CHANNEL).messages.values()
        answers = [message for message in messages if message.is_reply and message.author.bot_id]
        # All at once, so that they share transactions.
        cases = await asyncio.gather(*map(self._write_reply, read_replies(), answers))
        await self._write_beside(list(zip(read_replies(), cases, strict=True)))
        await self._insert(schema.seen_messages, [_seen_message(message) for message in messages])
        await self._write_choices()
        for example in SAID["examples"]:
            await self._write_example(example)
        Person(self.workspace, self.workspace.bot.id).post(PAST_CHANNEL, _NOTE)

    async def _insert(self, table: Table, rows: Sequence[_Row]) -> None:
        channel_id = self.workspace.channel(PAST_CHANNEL).id
        place = {"team_id": self.workspace.team_id, "channel_id": channel_id}
        await self.store.database.execute(insert(table).values([{**place, **row} for row in rows]))

    async def _write_reply(self, reply: Reply, answer: Message) -> LoggedCase:
        """A case that a watch drew."""
        case = self._case(answer, CaseSource.WATCH, self.workspace.bot.id)
        case = case.model_copy(update={"probability": 1.0, "shows": Shows.NOTHING})
        ratings = []
        if reply.score is not None:
            ratings.append((reply.score, reply.texts[f"{reply.quality}_why"]))
        judged = await self._judge(case, _verdict(ratings), to_time(answer.ts))
        return await self.store.note_delivered(judged)

    def _case(self, answer: Message, source: CaseSource, requester_id: str) -> Case:
        """The case of an answer to the message that began its thread."""
        asked = self.workspace.channels[answer.channel_id].messages[answer.thread_ts or ""]
        return Case(
            team_id=self.workspace.team_id,
            channel_id=answer.channel_id,
            key=f"made-up-{answer.ts}",
            requester_id=requester_id,
            requester_name=self.workspace.users[requester_id].name,
            source=source,
            rubric=_RUBRIC.name,
            visibility=Visibility.THREAD,
            message_ts=answer.ts,
            parent_ts=asked.ts,
            author_id=answer.author.id,
            question=to_plain(asked.text),
            question_source=QuestionSource.PREVIOUS,
            question_ts=asked.ts,
            question_author_id=asked.author.id,
            response=to_plain(answer.text),
        )

    async def _judge(self, case: Case, verdict: CaseVerdict, at: datetime) -> LoggedCase:
        then = Store(self.store.database, clock=lambda: at)
        added, _ = await then.add(case)
        in_thread = added.model_copy(update={"thread_ts": case.parent_ts})
        return await then.record(in_thread, verdict)

    async def _write_beside(self, past: Sequence[tuple[Reply, LoggedCase]]) -> None:
        """What the watches have seen, labels, causes of low scores, topics, and what a model would read."""
        rows = defaultdict[Table, list[_Row]](list)
        for reply, case in past:
            for table, row in self._rows(reply, case):
                rows[table].append(row)
        for table, of_table in rows.items():
            await self._insert(table, of_table)

    def _rows(self, reply: Reply, case: LoggedCase) -> Iterator[tuple[Table, _Row]]:
        author = {"author_id": case.author_id}
        topic = {"name": reply.texts["name"], "case_id": case.id}
        yield schema.replies, {**author, **_seen_reply(case)}
        yield schema.topics, {**author, **topic}
        yield from self._judgements(reply, case)
        if reply.after:
            newest = self.workspace.channel(PAST_CHANNEL).replies(case.parent_ts or "")[-1].ts
            thread = {"thread_ts": case.parent_ts, "last_ts": newest, "asked_at": self.now}
            yield (
                schema.thread_signs,
                {**author, **thread, **SAID["after"][reply.after - 1]["signs"]},
            )

    def _judgements(self, reply: Reply, case: LoggedCase) -> Iterator[tuple[Table, _Row]]:
        """The cause of a low score, and a person's label."""
        at = case.judged_at or self.now
        if reply.quality == "poor":
            week = Schedule.parse("monday", "09:00", "UTC").current(at).label
            yield schema.causes, {"case_id": case.id, "week": week, "name": reply.texts["cause"]}
        if reply.label is not None:
            person = {"case_id": case.id, "user_id": self.workspace.user(reply.colleague).id}
            given = {"score": reply.label, "created_at": at, "updated_at": at}
            yield schema.labels, {**SAID["label"], **person, **given}

    async def _write_choices(self) -> None:
        team_id = self.workspace.team_id
        channel_id = self.workspace.channel(PAST_CHANNEL).id
        began = self.now - _BEGAN
        released_at = self.now - _RELEASED
        ben, helper, drafter = (
            self.workspace.user(name).id for name in ("ben", "helper", "drafter")
        )
        names = {channel_id: PAST_CHANNEL, helper: "helper", drafter: "drafter"}
        for id_, name in names.items():
            await self.store.names.note(team_id, id_, name)
        chosen = SAID["channel"]
        await self.store.channels.save(team_id, channel_id, by=ben, digest_since=began, **chosen)
        watch = {
            **SAID["watch"],
            "alerts_to": (channel_id,),
            "since": began,
            "look_at": self.now,
            "read_until": self.now,
        }
        await self._insert(
            schema.watches, [{**watch, "author_id": id_} for id_ in (helper, drafter)]
        )
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
        verdict = _verdict(example["said"])
        case = self._case_of_example(example["question_begins"])
        judged = await self._judge(case, verdict, self.now)
        post = verdict_message(judged, verdict, EXAMPLE)
        app = Person(self.workspace, self.workspace.bot.id)
        posted = app.post(CHANNEL, post.text, thread_ts=case.parent_ts, blocks=post.blocks)
        await self.store.note_delivered(judged.model_copy(update={"reply_ts": posted.ts}))

    def _case_of_example(self, question_begins: str) -> Case:
        channel = self.workspace.channel(CHANNEL)
        messages = channel.messages.values()
        (asked,) = [each for each in messages if each.text.startswith(question_begins)]
        (reply,) = [each for each in channel.replies(asked.ts) if each.author.bot_id]
        return self._case(reply, CaseSource.SHORTCUT, asked.author.id)


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


def _seen_reply(case: LoggedCase) -> _Row:
    """What a watch notes of a reply that it has seen, and drawn as all others."""
    return {
        "ts": case.message_ts,
        "parent_ts": case.parent_ts,
        "probability": 1.0,
        "outcome": ReplyOutcome.MISSED if case.score is None else ReplyOutcome.TAKEN,
        "rests_at": case.judged_at,
        "day": f"{case.judged_at:%Y-%m-%d}",
    }


def _verdict(ratings: Sequence[tuple[int, str]]) -> CaseVerdict:
    """The verdict of these scores and reasons; without any, it is unscored."""
    results: list[Result] = [
        Rating(score=score, justification=reason, raw="", model=MADE_UP)
        for score, reason in ratings
    ]
    unscored = Unscored(reason=UnscoredReason.NO_SCORE, detail="", model=MADE_UP)
    verdict = combine(results or [unscored], rubric=_RUBRIC, model=MADE_UP)
    of_case = CaseVerdict(**vars(verdict), judge_version=MADE_UP if ratings else None)
    return replace(of_case, cost_usd=None)
