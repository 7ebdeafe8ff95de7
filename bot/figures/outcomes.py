"""What came of the questions to an assistant, and the scores that its answers had."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

import sqlalchemy as sa

from bot.domain.outcome import Outcome, outcomes_of
from bot.domain.questions import Question, questions_to
from bot.domain.standing import Subject, subject_of
from bot.domain.watch import Watch
from bot.store.database import Database, columns_of
from bot.store.digests import Thumbs
from bot.store.figures import to_ts
from bot.store.schema import cases
from bot.store.seen_messages import SeenMessages, ThreadSigns
from bot.store.visibility import is_watched
from judge.evaluation.stats import good_from, low_to
from judge.scoring.rubric import Scale

WEEKS = timedelta(weeks=4)
"""So far back go the figures."""
KEPT_FOR = 2 * WEEKS + timedelta(weeks=1)
"""Messages are kept longer: four weeks are compared with the four before."""


@dataclass(frozen=True)
class ScoredReply:
    """A reply that a watch had scored; without a parent it stands in the channel."""

    id: int
    channel_id: str
    message_ts: str
    parent_ts: str | None
    score: int
    lowest: int
    highest: int

    @property
    def is_good(self) -> bool:
        return self.score >= good_from(Scale(self.lowest, self.highest))

    @property
    def is_low(self) -> bool:
        return self.score <= low_to(Scale(self.lowest, self.highest))


R = TypeVar("R", bound=ScoredReply)


def channels_of(subject: Subject, watches: Sequence[Watch]) -> list[str]:
    return [watch.channel_id for watch in watches if subject_of(watch) == subject]


async def read_outcomes(
    database: Database, subject: Subject, channel_ids: Sequence[str], since: datetime, now: datetime
) -> Sequence[Outcome]:
    """What came of the questions to an assistant in its channels since then, oldest first."""
    messages = await SeenMessages(database).of(subject.team_id, channel_ids, since)
    # In a thread: a hundred questions a day take a quarter of a second.
    questions = await asyncio.to_thread(questions_to, subject.author_id, messages, now)
    signs = await ThreadSigns(database).of(subject.team_id, channel_ids, subject.author_id)
    thumbs = await Thumbs(database).up(subject.team_id, channel_ids, since)
    return outcomes_of(questions, now, signs, thumbs)


async def read_scored(
    database: Database, subject: Subject, channel_ids: Sequence[str], since: datetime
) -> "ScoredReplies[ScoredReply]":
    """The replies of an assistant that watches had scored since then."""
    query = sa.select(*columns_of(cases, ScoredReply)).where(
        cases.c.team_id == subject.team_id,
        cases.c.channel_id.in_(channel_ids),
        cases.c.author_id == subject.author_id,
        cases.c.message_ts >= to_ts(since),
        cases.c.score.is_not(None),
        is_watched(cases),
    )
    return ScoredReplies(await database.rows(ScoredReply, query))


class ScoredReplies(Generic[R]):
    """Finds the reply that answers a question."""

    def __init__(self, replies: Iterable[R]) -> None:
        self._threads = defaultdict[tuple[str, str], list[R]](list)
        for reply in replies:
            thread = reply.channel_id, reply.parent_ts or reply.message_ts
            self._threads[thread].append(reply)

    def of(self, question: Question) -> R | None:
        """A reply is known by its first message, which may come before the first with words."""
        answer_ts = question.answer_ts
        if answer_ts is None:
            return None
        # A reply in the channel is its own thread.
        threads = {question.thread_ts, answer_ts}
        replies = [
            reply
            for thread in threads
            for reply in self._threads.get((question.channel_id, thread), ())
            if float(question.ts) < float(reply.message_ts) <= float(answer_ts)
        ]
        return max(replies, key=lambda reply: float(reply.message_ts), default=None)
