"""What came of the questions to watched assistants, read for those who want to see it."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from bot.domain.outcome import OPEN_FOR, Outcomes, Question, questions_to, to_outcomes
from bot.domain.shared import AnswerCache
from bot.domain.standing import Subject, subject_of
from bot.domain.watch import Watch
from bot.feature import Services
from bot.store.seen_messages import SeenMessages, ThreadSigns

WEEKS = timedelta(weeks=4)
_KEPT_S = 600.0
_DAY_KEPT_S = 60.0
_MOST = 1000


class OutcomeFigures:
    """Figures of four weeks may be ten minutes old, the questions of a day one minute."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._seen = SeenMessages(services.store.database)
        self._signs = ThreadSigns(services.store.database)
        self._outcomes = AnswerCache(self._read, _KEPT_S, _MOST)
        self._days = AnswerCache(self._read_day, _DAY_KEPT_S, _MOST)

    async def of(self, subject: Subject) -> Outcomes:
        return await self._outcomes.get(subject)

    async def waiting(
        self, team_id: str, channel_ids: Collection[str]
    ) -> Mapping[str, Sequence[Question]]:
        """The questions in these channels that have no answer yet, by assistant, the oldest
        first.
        """
        watches = await self._services.store.watches.of(team_id)
        waiting = defaultdict[str, list[Question]](list)
        for watch in watches:
            if watch.channel_id in channel_ids:
                now = self._services.clock()
                questions = await self.recent(watch)
                open_questions = [each for each in questions if each.is_waiting(now)]
                if open_questions:
                    waiting[watch.author_id] += open_questions
        return {
            assistant_id: sorted(questions, key=lambda question: float(question.ts))
            for assistant_id, questions in waiting.items()
        }

    async def recent(self, watch: Watch) -> Sequence[Question]:
        """The questions of the last day to an assistant in its channel."""
        return await self._days.get((watch.team_id, watch.channel_id, watch.author_id))

    async def _read_day(self, key: tuple[str, str, str]) -> Sequence[Question]:
        team_id, channel_id, assistant_id = key
        now = self._services.clock()
        # Two weeks of messages tell whether the assistant answers those that do not mention it.
        messages = await self._seen.of(team_id, [channel_id], now - WEEKS / 2)
        questions = questions_to(assistant_id, messages, now)
        return [each for each in questions if now - each.asked_at < OPEN_FOR]

    async def _read(self, subject: Subject) -> Outcomes:
        now = self._services.clock()
        watches = await self._services.store.watches.of(subject.team_id)
        channels = channels_of(subject, watches)
        messages = await self._seen.of(subject.team_id, channels, now - WEEKS)
        questions = questions_to(subject.author_id, messages, now)
        signs = await self._signs.of(subject.team_id, channels, subject.author_id)
        thumbs = await self._services.store.thumbs.up(subject.team_id, channels, now - WEEKS)
        return to_outcomes(questions, now, signs, thumbs)


def channels_of(subject: Subject, watches: Sequence[Watch]) -> list[str]:
    return [watch.channel_id for watch in watches if subject_of(watch) == subject]
