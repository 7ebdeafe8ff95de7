"""Eight made-up weeks for the demo's log, so that digests, stats and the Home tab have something to show.

All of it is in one channel whose name says that it is made up, and each verdict says so, too, because nobody should
mistake it for a judge's. The figures of other channels contain only real verdicts.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import CaseSource, CaseStatus, LoggedCase, QuestionSource, Visibility
from bot.domain.verdict import MADE_UP, CaseVerdict
from bot.domain.week import Schedule, Week
from bot.pipeline.verdict_text import example_message, verdict_message
from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from bot.store import Store, schema
from bot.store.schema import ratings
from judge import Rating, load_rubric
from judge.scoring.ratings import combine
from pocket_slack import Clock, Message, Person, User, Workspace
from pocket_slack.workspace_file import open_workspace

CHANNEL = "help-desk"
_MODEL = "your model"
_OFFLINE_NOTE = (
    ":warning: *No model is set up: the offline rater scores here, a word counter, not a judge.* It cannot tell what "
    "is true.\nTo try it, open a thread, then the menu (⋮) of a reply, and choose *Score this reply*."
)


@dataclass(frozen=True)
class Example:
    """What a model might say about the first reply of the thread that begins with these words; one text per rating."""

    question_begins: str
    said: Sequence[tuple[int, str]]


EXAMPLES = (
    Example(
        "The VPN drops",
        (
            (
                4,
                "The response says what causes the drops, names the setting that stops them and where it is, and when "
                "the fixed version arrives. It does not say what to do if IKEv2 is blocked.",
            ),
            (4, "It gives a cause, a remedy and a date. One more sentence for networks without IKEv2 would help."),
            (5, "Cause, remedy and date in two sentences, and nothing that was not asked for."),
        ),
    ),
    Example(
        "May I pay for a team lunch",
        (
            (5, "It answers yes, gives the limit, and says which form to use and what to attach. Nothing is missing."),
            (3, "It answers the question, but leaves open who has to agree and whether guests count."),
            (
                2,
                "It names an amount without a source, and says nothing of who has to agree. A reader who relies on it "
                "may have to pay for the lunch.",
            ),
        ),
    ),
    Example(
        "The invoice export fails",
        (
            (
                1,
                "The response stays near the topic, but does not say whether there is a limit, nor how to export more "
                "than a month. Its advice would fit any problem.",
            ),
            (1, "It speaks of invoices and answers nothing: neither the limit nor a way round the timeout."),
            (0, "General advice and friendliness. The question about a limit is not answered."),
        ),
    ),
)


def post_examples(workspace: Workspace) -> None:
    app = Person(workspace, workspace.bot.id)
    channel = workspace.channel(CHANNEL)
    for example in EXAMPLES:
        question = next(each for each in channel.messages.values() if each.text.startswith(example.question_begins))
        post = example_message(_case(workspace, question), _verdict(example.said, _MODEL))
        app.post(CHANNEL, post.text, thread_ts=question.ts, blocks=post.blocks)


def _verdict(said: Sequence[tuple[int, str]], model: str) -> CaseVerdict:
    rubric = load_rubric("additive-5")
    ratings = [Rating(score=score, justification=words, raw="", model=model) for score, words in said]
    its: dict[str, Any] = {"model": model, "rubric": rubric.name, "rubric_version": rubric.version}
    return CaseVerdict(**vars(combine(ratings, scale=rubric.scale, **its)))


def post_offline_note(workspace: Workspace) -> None:
    Person(workspace, workspace.bot.id).post(CHANNEL, _OFFLINE_NOTE)


def _case(workspace: Workspace, question: Message) -> LoggedCase:
    """The case that an example is about; it is not in the store."""
    return LoggedCase(
        id=0,
        key="example",
        team_id=workspace.team_id,
        channel_id=question.channel_id,
        requester_id=question.author.id,
        requester_name=question.author.name,
        source=CaseSource.SHORTCUT,
        rubric="additive-5",
        visibility=Visibility.THREAD,
        status=CaseStatus.DELIVERED,
        question=question.text,
        question_source=QuestionSource.PREVIOUS,
        created_at=datetime.fromtimestamp(workspace.clock.now(), UTC),
    )


Row = dict[str, Any]
"""A row of a case as in the store."""

PAST_CHANNEL = "made-up-weeks"
WEEKS = 8

_SAID = "No judge read this reply: the score is made up for the demo."
_SEED = 19  # so that the lowest scores of the last week are those of messages that exist in the channel
_MEANS = {"helper": (2.2, 4.3), "drafter": (3.4, 3.1)}
"""The mean scores of the first week and the last: one assistant gets better, the other a little worse."""
_A_WEEK = range(26, 36)
_UNSCORED, _LABELLED = 0.04, 0.4
_ALL_TO_LABEL = {"labels_per_week": 50}
"""More than a week has cases, so all with texts can be scored blind: three of ben's by ann, and four of hers by him."""
_SOON = timedelta(minutes=2)
_EARLIER_SCORES = (1, 5, 0)
_SCORES = (0, 4, 1, 1)
"""The scores of the bots' answers in the channel, in their order: those of earlier weeks, then those of this week."""


def demo_workspace(clock: Clock | None = None) -> Workspace:
    """The workspace of demo.toml, with the app and the examples; without a clock, it uses the machine's."""
    manifest, file = load_manifest(parts=[MESSAGE_EVENTS]), Path(__file__).with_name("demo.toml")
    workspace = open_workspace(manifest, file, clock=clock)
    post_examples(workspace)
    return workspace


async def write_past(database_url: str, workspace: Workspace) -> bool:
    """Writes the past weeks to a store without cases, and posts the verdicts; returns whether it did."""
    async with await Store.open(database_url) as store:
        if await store.cases.counts():
            return False
        chance = random.Random(_SEED)  # noqa: S311 - the same past each time
        place = {"team_id": workspace.team_id, "channel_id": workspace.channel(PAST_CHANNEL).id}
        rubric = {"rubric": "additive-5", "rubric_version": load_rubric("additive-5").version}
        rows = [row | place | rubric for row in make_up(workspace, chance)]
        people = list(_labels(rows, chance))
        app = Person(workspace, workspace.bot.id)
        for row in rows:
            if row["thread_ts"]:
                verdict = _verdict([(row["score"], _SAID)], MADE_UP)
                post = verdict_message(LoggedCase.model_validate(row), verdict)
                posted = app.post(PAST_CHANNEL, post.text, thread_ts=row["thread_ts"], blocks=post.blocks)
                row["reply_ts"] = posted.ts

        async def write(connection: AsyncConnection) -> None:
            await connection.execute(insert(schema.cases), rows)
            shared = "team_id", "score", "unscored_reason", "justification", "model"
            its = {"position": 0, "raw": _SAID}
            given = [{name: row[name] for name in shared} | its | {"case_id": row["id"]} for row in rows]
            await connection.execute(insert(ratings), given)
            await connection.execute(insert(schema.labels), people)
            chosen = place | _ALL_TO_LABEL | {"updated_at": rows[-1]["judged_at"]}
            await connection.execute(insert(schema.channels).values(chosen))

        await store.database.write(write)
        return True


def make_up(workspace: Workspace, chance: random.Random) -> Sequence[Row]:
    """The cases of eight weeks up to now, oldest first, including those of the messages in the channel."""
    now = datetime.fromtimestamp(workspace.clock.now(), UTC)
    week = Schedule.parse("monday", "09:00", "UTC").current(now)
    past = [each for back in range(WEEKS) for each in _of_week(workspace, chance, week.before(back), back, now)]
    rows = sorted([*past, *_of_messages(workspace, week, now)], key=lambda row: row["judged_at"])
    return [row | {"id": number, "key": f"made-up-{number}"} for number, row in enumerate(rows, 1)]


def _of_week(workspace: Workspace, chance: random.Random, week: Week, back: int, now: datetime) -> Iterator[Row]:
    asking = [workspace.user(name) for name in ("ann", "ben")]
    length = min(week.end, now) - week.start
    for _ in range(chance.choice(_A_WEEK)):
        name = chance.choice(list(_MEANS))
        first, last = _MEANS[name]
        mean = last + (first - last) * back / (WEEKS - 1)
        score = min(5, max(0, round(chance.gauss(mean, 1))))
        author, requester = workspace.user(name), chance.choice(asking)
        given = None if chance.random() < _UNSCORED else score
        yield _row(author, requester, given, week.start + length * chance.random() * 0.95)


def _of_messages(workspace: Workspace, week: Week, now: datetime) -> Iterator[Row]:
    """One case for each bot's answer in the channel; the last ones are the newest of the week, whatever day it is."""
    channel = workspace.channel(PAST_CHANNEL)
    answers = [each for each in channel.messages.values() if each.is_reply and each.author.bot_id]
    scores = _EARLIER_SCORES + _SCORES
    for position, (answer, score) in enumerate(zip(answers, scores, strict=True), -len(scores)):
        parent = channel.messages[answer.thread_ts or ""]
        is_earlier = position < -len(_SCORES)
        soon = datetime.fromtimestamp(float(answer.ts), UTC) + _SOON
        at = soon if is_earlier else now + (now - week.start) * position / 100
        its = {"message_ts": answer.ts, "parent_ts": parent.ts, "thread_ts": parent.ts, "question_ts": parent.ts}
        its["question_source"] = QuestionSource.PREVIOUS
        yield _row(answer.author, parent.author, score, at) | its | {"question": parent.text, "response": answer.text}


def _row(author: User, requester: User, score: int | None, at: datetime) -> Row:
    """A made-up case whose texts are not stored; if `score` is None, it is unscored."""
    nothing = ("parent_ts", "thread_ts", "reply_ts", "question", "question_ts", "response")
    return dict.fromkeys(nothing) | {
        "message_ts": f"{(at - _SOON).timestamp():.6f}",
        "requester_id": requester.id,
        "requester_name": requester.name,
        "author_id": author.id,
        "source": CaseSource.SHORTCUT,
        "visibility": Visibility.THREAD,
        "attempt": 1,
        "question_source": QuestionSource.TYPED,
        "question_author_id": requester.id,
        "status": CaseStatus.DELIVERED,
        "score": score,
        "lowest": 0,
        "highest": 5,
        "mean": score,
        "spread": None if score is None else 0.0,
        "justification": "" if score is None else _SAID,
        "model": MADE_UP,
        "unscored_reason": "no_score" if score is None else None,
        "created_at": at,
        "judged_at": at,
        "delivered_at": at,
    }


def _labels(rows: Sequence[Row], chance: random.Random) -> Iterator[Row]:
    for case in rows:
        if case["score"] is not None and chance.random() < _LABELLED:
            yield {
                "team_id": case["team_id"],
                "channel_id": case["channel_id"],
                "case_id": case["id"],
                "user_id": case["requester_id"],
                "score": min(5, max(0, case["score"] + chance.choice((-1, -1, 0, 0, 0, 1)))),
                # As if drawn at random and labelled blind: the digest uses these to correct its mean.
                "is_blind": case["thread_ts"] is None,
                "probability": _LABELLED if case["thread_ts"] is None else None,
                "created_at": case["judged_at"],
                "updated_at": case["judged_at"],
            }
