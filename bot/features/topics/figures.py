"""What an assistant is asked about, read for those who want to see it."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, time

from bot.domain.outcome import Outcome
from bot.domain.shared import AnswerCache
from bot.domain.standing import ChangeByTopic, Standing, Subject
from bot.features.topics import text
from bot.features.topics.change import find_change
from bot.features.topics.counts import Report, SortedQuestion, scores_of, to_report
from bot.features.topics.queries import Topics
from bot.figures.outcomes import KEPT_FOR, WEEKS, channels_of, read_outcomes, read_scored
from bot.services import Services
from bot.store.figures import Kind

_KEPT_S = 60.0
_MOST = 1000


class TopicFigures:
    """Figures may be a minute old."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._topics = Topics(services.store.database)
        self._reports = AnswerCache(self._read, _KEPT_S, _MOST)

    async def of(self, subject: Subject) -> Report:
        return await self._reports.get(subject)

    async def change(self, standing: Standing) -> ChangeByTopic:
        """What the topics tell of the change of a standing."""
        if not (standing.is_clear and standing.since and standing.step):
            return ChangeByTopic()
        report = await self.of(standing.subject)
        kind = Kind(standing.lowest, standing.highest, standing.version)
        since = datetime.combine(standing.since, time(), self._services.schedule.zone)
        scores = scores_of(report.replies, kind)
        found = await asyncio.to_thread(
            find_change, scores, since, kind.scale, is_lower=standing.step < 0
        )
        if found is None or not found.moved:
            return ChangeByTopic(has_mix_moved=found is not None)
        line = text.only_in_line(found.topic, found.moved, found.others)
        case_ids = [reply.id for reply in report.replies if reply.topic == found.topic]
        return ChangeByTopic(found.topic, line, case_ids)

    async def questions(self, subject: Subject) -> Sequence[SortedQuestion]:
        """All sorted questions of four weeks, and all others of which it is known what came of them."""
        services = self._services
        database = services.store.database
        now = services.clock()
        channels = channels_of(subject, await services.store.watches.of(subject.team_id))
        replies = await self._topics.replies(subject, channels, now - WEEKS)
        outcomes = await read_outcomes(database, subject, channels, now - WEEKS, now)
        scored = await read_scored(database, subject, channels, now - WEEKS)
        unanswered = await self._topics.unanswered(subject, channels)
        by_case = dict[int, Outcome]()
        found = list[SortedQuestion]()
        for outcome in outcomes:
            question = outcome.question
            reply = scored.of(question)
            if reply:
                by_case[reply.id] = outcome
            elif topic := unanswered.get((question.channel_id, question.ts)):
                found.append(SortedQuestion(topic, None, outcome))
        found += [SortedQuestion(each.topic, each, by_case.get(each.id)) for each in replies]
        return found

    async def _read(self, subject: Subject) -> Report:
        services = self._services
        now = services.clock()
        channels = channels_of(subject, await services.store.watches.of(subject.team_id))
        replies = await self._topics.replies(subject, channels, now - KEPT_FOR)
        questions = await self.questions(subject)
        return await asyncio.to_thread(to_report, questions, replies)
