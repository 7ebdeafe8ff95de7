"""What came of the questions to watched assistants, read for those who want to see it."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.outcome import Outcome, Outcomes, Sign, counted
from bot.domain.questions import MEANT_FOR, OPEN_FOR, Question
from bot.domain.standing import Subject, subject_of
from bot.domain.watch import Watch
from bot.features.outcome.shares import Contested, Shares, more_contested, shares_of
from bot.figures.outcomes import (
    KEPT_FOR,
    WEEKS,
    ScoredReplies,
    ScoredReply,
    channels_of,
    read_outcomes,
    read_scored,
)
from bot.figures.quality import grouped
from bot.services import Services


@dataclass(frozen=True)
class Report:
    """What came of four weeks' questions to an assistant.

    Of the replies `contradicted` the asker said the opposite of their scores.
    """

    outcomes: Outcomes
    contested: Contested | None
    contradicted: Sequence[ScoredReply]


class OutcomeFigures:
    """Read anew each time, so that counts and lists on one screen agree."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def of(self, subject: Subject, until: datetime | None = None) -> Report:
        """What came of the questions of four weeks up to a time, by default now."""
        services = self._services
        now = services.clock()
        until = until or now
        outcomes = [
            outcome for outcome in await self.outcomes(subject) if outcome.question.asked_at < until
        ]
        channels = sorted({outcome.question.channel_id for outcome in outcomes})
        replies = await read_scored(services.store.database, subject, channels, now - KEPT_FOR)
        return await asyncio.to_thread(_to_report, outcomes, replies, until - WEEKS)

    async def waiting(
        self, team_id: str, channel_ids: Collection[str], author_id: str | None = None
    ) -> Mapping[str, Sequence[Question]]:
        """The questions in these channels that have no answer yet, by assistant, or those to the
        author, the oldest first.
        """
        now = self._services.clock()
        waiting = list[tuple[str, Question]]()
        for watch in await self._services.store.watches.of(team_id):
            if watch.channel_id in channel_ids and author_id in {None, watch.author_id}:
                recent = await self.recent(watch)
                waiting += [(watch.author_id, each) for each in recent if each.is_waiting(now)]
        waiting.sort(key=lambda each: each[1].asked_at)
        return grouped(waiting)

    async def recent(self, watch: Watch) -> Sequence[Question]:
        """The questions of the last day to an assistant in its channel."""
        now = self._services.clock()
        return [each for each in await self._asked(watch) if now - each.asked_at < OPEN_FOR]

    async def are_all_meant(self, watch: Watch) -> bool:
        """Whether the messages that do not mention the assistant count as questions to it."""
        return any(question.is_usual for question in await self._asked(watch))

    async def _asked(self, watch: Watch) -> Sequence[Question]:
        database = self._services.store.database
        channels = [watch.channel_id]
        now = self._services.clock()
        since = now - MEANT_FOR
        outcomes = await read_outcomes(database, subject_of(watch), channels, since, now)
        return [outcome.question for outcome in outcomes]

    async def outcomes(self, subject: Subject) -> Sequence[Outcome]:
        """What came of all questions whose messages are kept."""
        services = self._services
        now = services.clock()
        channels = channels_of(subject, await services.store.watches.of(subject.team_id))
        return await read_outcomes(services.store.database, subject, channels, now - KEPT_FOR, now)

    def keeps_weeks_before(self, moment: datetime) -> bool:
        """Whether all messages of the four weeks before a moment are still kept."""
        return moment - WEEKS >= self._services.clock() - KEPT_FOR

    async def around(self, subject: Subject, moment: datetime) -> tuple[Shares, Shares]:
        """The shares of four weeks before a moment, and of four since then; empty of weeks whose
        messages are no longer all kept.
        """
        outcomes = await self.outcomes(subject)
        before = _between(outcomes, moment - WEEKS, moment)
        if not self.keeps_weeks_before(moment):
            before = []
        since = _between(outcomes, moment, moment + WEEKS)
        # In a thread, because a hundred questions a day take more than a tenth of a second.
        return await asyncio.to_thread(lambda: (shares_of(before), shares_of(since)))


def _between(outcomes: Sequence[Outcome], start: datetime, end: datetime) -> list[Outcome]:
    return [outcome for outcome in outcomes if start <= outcome.question.asked_at < end]


def _to_report(
    outcomes: Sequence[Outcome], replies: ScoredReplies[ScoredReply], since: datetime
) -> Report:
    """The report of the questions since then; earlier ones are for comparison."""
    good = list[Outcome]()
    contradicted = list[ScoredReply]()
    this = [outcome for outcome in outcomes if outcome.question.asked_at >= since]
    for outcome in outcomes:
        reply = replies.of(outcome.question)
        if reply is None:
            continue
        if reply.is_good and outcome.is_known and outcome.is_settled:
            good.append(outcome)
        # A thumb up can confirm what the model reads as contested: then neither counts.
        signs = outcome.signs & {Sign.CONFIRMED, Sign.CONTESTED}
        opposite = {Sign.CONTESTED} if reply.is_good else {Sign.CONFIRMED}
        is_this = outcome.question.asked_at >= since
        if signs == opposite and (reply.is_good or reply.is_low) and is_this:
            contradicted.append(reply)
    return Report(
        outcomes=counted(this),
        contested=more_contested(good, since, since - WEEKS),
        contradicted=contradicted,
    )
