"""What came of the questions to watched assistants, read for those who want to see it."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.outcome import Outcome, Outcomes, Sign, counted
from bot.domain.questions import (
    MEANT_FOR,
    OPEN_FOR,
    Question,
    questions_to,
)
from bot.domain.shared import AnswerCache
from bot.domain.standing import Subject
from bot.domain.watch import Watch
from bot.features.outcome.shares import Contested, Shares, more_contested, settled, shares_of
from bot.figures.outcomes import (
    KEPT_FOR,
    WEEKS,
    ScoredReplies,
    ScoredReply,
    channels_of,
    read_outcomes,
    read_scored,
)
from bot.services import Services
from bot.store.seen_messages import SeenMessages

_KEPT_S = 60.0
_MOST = 1000


@dataclass(frozen=True)
class Report:
    """What came of four weeks' questions to an assistant.

    Of the replies `contradicted` the asker said the opposite of their scores.
    """

    outcomes: Outcomes
    contested: Contested | None
    contradicted: Sequence[ScoredReply]


class OutcomeFigures:
    """Figures may be a minute old."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._seen = SeenMessages(services.store.database)
        self._reports = AnswerCache(self._read, _KEPT_S, _MOST)
        self._days = AnswerCache(self._read_day, _KEPT_S, _MOST)

    async def of(self, subject: Subject) -> Report:
        return await self._reports.get(subject)

    async def waiting(
        self, team_id: str, channel_ids: Collection[str], author_id: str | None = None
    ) -> Mapping[str, Sequence[Question]]:
        """The questions in these channels that have no answer yet, by assistant, the oldest first;
        with an author, only those to it.
        """
        now = self._services.clock()
        waiting = defaultdict[str, list[Question]](list)
        for watch in await self._services.store.watches.of(team_id):
            if watch.channel_id in channel_ids and author_id in {None, watch.author_id}:
                for question in await self.recent(watch):
                    if question.is_waiting(now):
                        waiting[watch.author_id].append(question)
        for questions in waiting.values():
            questions.sort(key=lambda question: question.asked_at)
        return waiting

    async def recent(self, watch: Watch) -> Sequence[Question]:
        """The questions of the last day to an assistant in its channel."""
        return await self._days.get((watch.team_id, watch.channel_id, watch.author_id))

    async def _read_day(self, key: tuple[str, str, str]) -> Sequence[Question]:
        now = self._services.clock()
        return [each for each in await self._asked(*key) if now - each.asked_at < OPEN_FOR]

    async def are_all_meant(self, watch: Watch) -> bool:
        """Whether the messages that do not mention the assistant count as questions to it."""
        questions = await self._asked(watch.team_id, watch.channel_id, watch.author_id)
        return any(question.is_usual for question in questions)

    async def _asked(self, team_id: str, channel_id: str, assistant_id: str) -> Sequence[Question]:
        now = self._services.clock()
        messages = await self._seen.of(team_id, [channel_id], now - MEANT_FOR)
        return questions_to(assistant_id, messages, now)

    async def outcomes(self, subject: Subject) -> Sequence[Outcome]:
        """What came of all questions whose messages are kept."""
        services = self._services
        now = services.clock()
        channels = channels_of(subject, await services.store.watches.of(subject.team_id))
        return await read_outcomes(services.store.database, subject, channels, now - KEPT_FOR, now)

    async def around(self, subject: Subject, moment: datetime) -> tuple[Shares, Shares]:
        """The shares of four weeks before a moment, and of four since then."""
        outcomes = settled(await self.outcomes(subject), self._services.clock())
        before = _between(outcomes, moment - WEEKS, moment)
        since = _between(outcomes, moment, moment + WEEKS)
        # In a thread, because a hundred questions a day take more than a tenth of a second.
        return await asyncio.to_thread(lambda: (shares_of(before), shares_of(since)))

    async def _read(self, subject: Subject) -> Report:
        services = self._services
        now = services.clock()
        outcomes = await self.outcomes(subject)
        channels = sorted({outcome.question.channel_id for outcome in outcomes})
        replies = await read_scored(services.store.database, subject, channels, now - KEPT_FOR)
        return await asyncio.to_thread(_to_report, outcomes, replies, now)


def _between(outcomes: Sequence[Outcome], start: datetime, end: datetime) -> list[Outcome]:
    return [outcome for outcome in outcomes if start <= outcome.question.asked_at < end]


def _to_report(
    outcomes: Sequence[Outcome], replies: ScoredReplies[ScoredReply], now: datetime
) -> Report:
    good = list[Outcome]()
    contradicted = list[ScoredReply]()
    this = _between(outcomes, now - WEEKS, now)
    for outcome in outcomes:
        reply = replies.of(outcome.question)
        if reply is None:
            continue
        if reply.is_good and outcome.is_known:
            good.append(outcome)
        # A thumb up can confirm what the model reads as contested: then neither counts.
        signs = outcome.signs & {Sign.CONFIRMED, Sign.CONTESTED}
        opposite = {Sign.CONTESTED} if reply.is_good else {Sign.CONFIRMED}
        is_late = now - outcome.question.asked_at <= WEEKS
        if signs == opposite and (reply.is_good or reply.is_low) and is_late:
            contradicted.append(reply)
    return Report(
        outcomes=counted(this),
        contested=more_contested(settled(good, now), now - WEEKS, now - 2 * WEEKS),
        contradicted=contradicted,
    )
