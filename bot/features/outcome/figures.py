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
_MOST = 1000


class OutcomeFigures:
    """Figures of four weeks may be ten minutes old; what waits is read each time."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._seen = SeenMessages(services.store.database)
        self._signs = ThreadSigns(services.store.database)
        self._outcomes = AnswerCache(self._read, _KEPT_S, _MOST)

    async def of(self, subject: Subject) -> Outcomes:
        return await self._outcomes.get(subject)

    async def waiting(
        self, team_id: str, channel_ids: Collection[str]
    ) -> Mapping[str, Sequence[Question]]:
        """The questions in these channels that have no answer yet, by assistant, the oldest
        first.
        """
        watches = await self._services.store.watches.of(team_id)
        assistants = defaultdict[str, list[str]](list)
        for watch in watches:
            if watch.channel_id in channel_ids:
                assistants[watch.author_id].append(watch.channel_id)
        waiting = dict[str, Sequence[Question]]()
        for assistant_id, channels in assistants.items():
            questions = await self.recent(team_id, assistant_id, channels)
            now = self._services.clock()
            if open_questions := [each for each in questions if each.is_waiting(now)]:
                waiting[assistant_id] = open_questions
        return waiting

    async def recent(
        self, team_id: str, assistant_id: str, channel_ids: Sequence[str]
    ) -> Sequence[Question]:
        """The questions of the last day to an assistant in these channels."""
        now = self._services.clock()
        # Two weeks of messages tell whether the assistant answers those that do not mention it.
        messages = await self._seen.of(team_id, channel_ids, now - WEEKS / 2)
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
