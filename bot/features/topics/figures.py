"""What an assistant is asked about, read for those who want to see it."""

import asyncio
from collections.abc import Sequence
from datetime import date, datetime, time

from bot.domain.shared import AnswerCache
from bot.domain.standing import ChangeByTopic, Standing, Subject
from bot.features.topics import text
from bot.features.topics.change import FoundChange, find_change
from bot.features.topics.counts import Report, SortedQuestion, scores_of, to_questions, to_report
from bot.features.topics.queries import Topics
from bot.figures.outcomes import KEPT_FOR, WEEKS, channels_of, read_outcomes
from bot.services import Services
from bot.store.figures import Kind

_KEPT_S = 60.0
_MOST = 1000


class TopicFigures:
    """Figures may be a minute old."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._topics = Topics(services.store.database)
        self.of = AnswerCache(self._read, _KEPT_S, _MOST).get

    async def change(self, standing: Standing) -> ChangeByTopic:
        """What the topics tell of the change of a standing."""
        if not (standing.is_clear and standing.since and standing.step):
            return ChangeByTopic()
        report = await self.of(standing.subject)
        found = await asyncio.to_thread(self._find_change, standing, standing.since, report)
        if found is None or not found.moved:
            return ChangeByTopic(has_mix_moved=found is not None)
        line = text.only_in_line(found.topic, found.moved)
        case_ids = [reply.id for reply in report.replies if reply.topic == found.topic]
        return ChangeByTopic(only_in=found.topic, line=line, drawn_from=case_ids)

    def _find_change(self, standing: Standing, day: date, report: Report) -> FoundChange | None:
        kind = Kind(standing.lowest, standing.highest, standing.version)
        since = datetime.combine(day, time(), self._services.schedule.zone)
        scores = scores_of(report.replies, kind)
        return find_change(scores, since, kind.scale, is_lower=(standing.step or 0) < 0)

    async def questions(
        self, subject: Subject, channels: Sequence[str]
    ) -> Sequence[SortedQuestion]:
        """Those of four weeks in these channels."""
        now = self._services.clock()
        since = now - WEEKS
        replies = await self._topics.replies(subject, channels, since)
        database = self._services.store.database
        outcomes = await read_outcomes(database, subject, channels, since, now)
        unanswered = await self._topics.unanswered(subject, channels)
        return await asyncio.to_thread(to_questions, replies, outcomes, unanswered)

    async def _read(self, subject: Subject) -> Report:
        services = self._services
        channels = channels_of(subject, await services.store.watches.of(subject.team_id))
        replies = await self._topics.replies(subject, channels, services.clock() - KEPT_FOR)
        sorted_replies = [reply for reply in replies if reply.topic]
        questions = await self.questions(subject, channels)
        return await asyncio.to_thread(to_report, questions, sorted_replies)
