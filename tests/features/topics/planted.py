"""Questions on known topics with known scores, and a model that sorts them by their words."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import insert

from bot.domain.case import CaseSource, text_hash
from bot.domain.questions import Says
from bot.features.topics.sorting import LOOK_HOUR, TopicLooks
from bot.store.figures import to_ts
from bot.store.schema import cases, seen_messages
from tests.cases import a_row
from tests.stage import CHANNEL, Stage
from tests.watches import only

VERSION = "m, additive-5 1"
NAMES = {"expense": "expense claims", "password": "password reset", "leave": "days of leave"}
"""What the model calls the questions with these words."""
NAMING = "Find the topics"
"""In the prompt that asks for names."""


def monday() -> datetime:
    """When the looks of these tests begin, a Monday that is to come: half an hour after they are due."""
    now = datetime.now(UTC).replace(hour=LOOK_HOUR, minute=30)
    return now + timedelta(days=14 - now.weekday())


async def ask(
    stage: Stage,
    words: str,
    scores: Sequence[int | None],
    *,
    days: float = 1,
    probability: float = 1.0,
    is_same: bool = False,
) -> None:
    """Questions with these words and scores, a minute from each other, so many days before the
    first look; without a score one has no answer, and was asked now.
    """
    watch = await only(stage)
    place = {"team_id": watch.team_id, "channel_id": watch.channel_id}
    begin = monday() - timedelta(days=days)
    rows = list[Mapping[str, Any]]()
    seen = list[Mapping[str, Any]]()
    for number, score in enumerate(scores):
        at = begin + timedelta(minutes=number)
        text = words if is_same else f"{words} {number}?"
        question_ts = to_ts(at)
        if score is None:
            # Its words are read from Slack, whose clock says when it was asked.
            question_ts = stage.ann.post(CHANNEL, f"<@{watch.author_id}> {text}").ts
        message = {"thread_ts": question_ts, "says": Says.WORDS, "finished_at": begin, **place}
        of_ann = {"author_id": stage.ann.id, "is_app": False, "text_hash": text_hash(text.lower())}
        seen.append(message | of_ann | {"ts": question_ts, "mentions": (watch.author_id,)})
        if score is None:
            continue
        reply_ts = to_ts(at + timedelta(seconds=20))
        of_helper = {"author_id": watch.author_id, "is_app": True, "text_hash": None}
        seen.append(message | of_helper | {"ts": reply_ts, "mentions": ()})
        row = a_row(
            **place,
            key=f"{words}/{days}/{number}",
            author_id=watch.author_id,
            source=CaseSource.WATCH,
            judge_version=VERSION,
            probability=probability,
            question=text,
            score=score,
            parent_ts=question_ts,
            thread_ts=question_ts,
            message_ts=reply_ts,
            question_ts=question_ts,
            question_author_id=stage.ann.id,
            created_at=begin - timedelta(days=30),
            judged_at=at,
        )
        rows.append(row)
    await stage.log.database.execute(insert(seen_messages).values(seen))
    if rows:
        await stage.log.database.execute(insert(cases).values(rows))


def sorter(names: Mapping[str, str] = NAMES) -> Callable[[Mapping[str, Any]], str]:
    """A model that names, or sorts, each numbered question by a word in it."""

    def answer(request: Mapping[str, Any]) -> str:
        prompt = request["messages"][-1]["content"]
        numbers = defaultdict[str, list[str]](list)
        for number, text in re.findall(r"^(\d+)\. (.*)$", prompt, re.MULTILINE):
            said = [name for word, name in names.items() if word in text.lower()]
            fitting = [name for name in said if NAMING in prompt or f"- {name}" in prompt]
            numbers[fitting[0] if fitting else "other"].append(number)
        if NAMING in prompt:
            return "\n".join(f"{name}: {', '.join(listed)}" for name, listed in numbers.items())
        return "\n".join(f"{each}: {name}" for name, listed in numbers.items() for each in listed)

    return answer


async def sort(stage: Stage, days: float = 0, **changes: Any) -> None:
    """A look of another process, so many days after the first."""
    later = monday() - datetime.now(UTC) + timedelta(days=days)
    await TopicLooks(stage.services_at(later, **changes)).look()
