"""Names the topics of an assistant's questions once a week, and sorts new questions once a day."""

import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

import structlog

from bot.domain.outcome import Sign
from bot.domain.questions import Question
from bot.domain.standing import Subject, subject_of
from bot.domain.watch import Watch
from bot.features.topics.queries import Topics, ToSort
from bot.figures.outcomes import WEEKS, read_outcomes
from bot.figures.quality import grouped
from bot.pipeline.asking import BudgetError, ask, writer_of
from bot.pipeline.lookup import UNREADABLE
from bot.pipeline.retries import in_brief
from bot.services import Services
from bot.slack.mrkdwn import to_plain
from bot.store.notices import Notices, day_of
from judge import Judge, JudgeError
from judge.evaluation.naming import OTHER
from judge.evaluation.topics import (
    FEWEST_QUESTIONS,
    FEWEST_SHOWN,
    MOST_SORTED,
    MOST_TOPICS,
    name_topics,
    sort_by_topic,
)
from judge.scoring.judging import Written

LOOK_HOUR = 5
"""The hour from which a day's questions are sorted, by the workspace's clock: before standings are looked at."""
NAMES_KEPT = timedelta(weeks=8)
"""A name is known for so long after the last question that it was given."""
LEASE = timedelta(hours=1)
"""After so long, a look whose process has died is begun again."""
WEEK = timedelta(weeks=1)
_PAUSE = timedelta(minutes=10)
_MOST = 1000  # questions of a look, the newest
_MOST_READ = 50  # of them without an answer, whose words are read from Slack
_KEPT_AT_ONCE = 150
_NO_LIMIT = 10_000

logger = structlog.get_logger(__name__)


class _Sorting(NamedTuple):
    """What is sorted: the questions to an assistant in these channels, at most so many, by a judge."""

    subject: Subject
    channels: Sequence[str]
    judge: Judge
    most: int


class TopicLooks:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._topics = Topics(services.store.database)
        self._notices = Notices(services.store.database)
        self._limits = services.limits.of_automation("Watches")
        self._next: datetime | None = None

    async def look(self) -> None:
        """Sorts the questions to each assistant, once a day; a limit or a dead model ends it for the
        day.
        """
        services = self._services
        now = services.clock()
        local = now.astimezone(services.schedule.zone)
        is_early = local.hour < LOOK_HOUR or (self._next is not None and now < self._next)
        if services.judges is None or is_early:
            return
        self._next = now + _PAUSE
        name = f"topics {local.date()}"
        watches = await services.store.watches.of(services.identity.team_id)
        for subject, its_watches in grouped((subject_of(each), each) for each in watches).items():
            if await self._is_ours(subject, name):
                await self._look_at(subject, its_watches)
                await self._notices.note_told(subject, name, "", now)

    async def _is_ours(self, subject: Subject, name: str) -> bool:
        """Whether nobody else has done what has this name, or is about to."""
        now = self._services.clock()
        return await self._notices.claim(subject, name, "", day_of(now), now, LEASE) is not None

    async def _look_at(self, subject: Subject, watches: Sequence[Watch]) -> None:
        channels = [watch.channel_id for watch in watches]
        judge = await writer_of(self._services.judges, subject.team_id, channels[0])
        if not judge:
            return
        # At most as many requests as the watches may spend on scores in a day.
        most = sum(watch.per_day or _NO_LIMIT for watch in watches)
        try:
            await self._sort_all(_Sorting(subject, channels, judge, most * MOST_SORTED))
        except (BudgetError, JudgeError) as exc:
            logger.warning("judge_failed", error=type(exc).__name__, reason=str(exc))

    async def _sort_all(self, sorting: _Sorting) -> None:
        """Sorts by the names that are known, then by new ones."""
        since = self._services.clock() - NAMES_KEPT
        known = await self._topics.names(sorting.subject, sorting.channels, since)
        names = list(known[:MOST_TOPICS])
        if names:
            await self._sort(sorting, names)
        new = await self._new_names(sorting, names)
        if new:
            # What fitted none may fit them.
            await self._topics.unsort(sorting.subject, sorting.channels)
            await self._sort(sorting, [*names, *new])

    async def _new_names(self, sorting: _Sorting, known: Sequence[str]) -> Sequence[str]:
        """Names for the week's questions that fit none of those that are known, at most once a week."""
        subject = sorting.subject
        now = self._services.clock()
        name = f"topic names {now:%G-W%V}"
        texts = await self._unnamed(sorting, known, now - WEEK)
        if not (texts and await self._is_ours(subject, name)):
            return []
        random.Random(name).shuffle(texts)  # noqa: S311 - it keeps no secret
        new = await name_topics(self._within(subject, sorting.judge.write), texts, known)
        await self._notices.note_told(subject, name, "", now)
        return new

    async def _unnamed(self, sorting: _Sorting, known: Sequence[str], since: datetime) -> list[str]:
        """The different questions that fit no known name; empty if there are too few."""
        found = await self._topics.questions(sorting.subject, sorting.channels, since, _MOST)
        unnamed = [question.text for question, topic in found if not known or topic == OTHER]
        are_enough = len(found) >= FEWEST_QUESTIONS and len(unnamed) >= FEWEST_SHOWN
        return list(dict.fromkeys(unnamed)) if are_enough else []

    async def _sort(self, sorting: _Sorting, names: Sequence[str]) -> None:
        """Sorts what is unsorted into these topics, and keeps each part once it is sorted."""
        questions = await self._unsorted(sorting)
        judge = sorting.judge
        write = self._within(sorting.subject, judge.write)
        decide = self._within(sorting.subject, judge.decide) if judge.decides else None
        for begin in range(0, len(questions), _KEPT_AT_ONCE):
            part = grouped((each.text, each) for each in questions[begin : begin + _KEPT_AT_ONCE])
            texts = dict(enumerate(part))
            found = await sort_by_topic(write, texts, names, decide)
            named = [(each, name) for at, name in found.items() for each in part[texts[at]]]
            await self._topics.note(sorting.subject, named)

    async def _unsorted(self, sorting: _Sorting) -> Sequence[ToSort]:
        since = self._services.clock() - WEEKS
        stored = await self._topics.questions(sorting.subject, sorting.channels, since, _MOST)
        questions = [question for question, topic in stored if topic is None]
        questions += await self._unanswered(sorting.subject, sorting.channels)
        return questions[: sorting.most]

    async def _unanswered(self, subject: Subject, channels: Sequence[str]) -> list[ToSort]:
        """Questions without an answer, with their words, which are read from Slack and not stored."""
        services = self._services
        now = services.clock()
        known = await self._topics.unanswered(subject, channels)
        outcomes = await read_outcomes(services.store.database, subject, channels, now - WEEKS, now)
        questions = [outcome.question for outcome in outcomes if Sign.UNANSWERED in outcome.signs]
        due = [each for each in questions if (each.channel_id, each.ts) not in known]
        read = [(each, await read_words(services, each)) for each in due[-_MOST_READ:]]
        return [ToSort(each.channel_id, each.ts, text) for each, text in read if text]

    def _within(
        self, subject: Subject, request: Callable[..., Awaitable[Written]]
    ) -> Callable[..., Awaitable[Written]]:
        """The request within the limits of watches, after all cases that wait."""

        async def ask_within(*of_request: Any) -> Written:
            async with self._services.background():
                store = self._services.store
                asking = partial(request, *of_request)
                return await ask(store, self._limits, subject.team_id, asking)

        return ask_within


async def read_words(services: Services, question: Question) -> str:
    """The words of a question, read from Slack; empty if it is gone, or Slack does not say."""
    parent_ts = None if question.thread_ts == question.ts else question.thread_ts
    try:
        message = await services.lookup.message_at(question.channel_id, question.ts, parent_ts)
    except UNREADABLE as exc:
        logger.warning("reply_not_read", channel=question.channel_id, error=in_brief(exc))
        return ""
    return to_plain(message.text) if message else ""
