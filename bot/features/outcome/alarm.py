"""Alerts of questions to an assistant that got no answer within an hour."""

from collections.abc import Sequence
from datetime import timedelta

from bot.domain.questions import Question
from bot.domain.shared import AnswerCache
from bot.domain.watch import Watch
from bot.features.outcome.figures import OutcomeFigures
from bot.features.outcome.text import unanswered_alert
from bot.services import Services
from bot.slack.messenger import Post

HOUR = timedelta(hours=1)
_FEWEST = 3
_SHARE = 3  # a third of the day's questions
_LOOKED_AT_EVERY_S = 300.0


class UnansweredAlarm:
    """Looks at a watch's last day every five minutes."""

    def __init__(self, services: Services, figures: OutcomeFigures) -> None:
        self._services = services
        self._figures = figures
        self._posts = AnswerCache(self._look, _LOOKED_AT_EVERY_S, most=1000)

    async def alert(self, watch: Watch) -> Post | None:
        """What those whom the watch alerts are to be told; None if enough was answered."""
        return await self._posts.get(watch)

    async def _look(self, watch: Watch) -> Post | None:
        now = self._services.clock()
        today = await self._figures.recent(watch)
        waiting = [
            question
            for question in today
            if question.answer_ts is None and now - question.asked_at >= HOUR
        ]
        if not is_alarming(waiting, len(today)):
            return None
        name = await self._services.members.name_of(watch.author_id)
        url = self._services.identity.url
        return unanswered_alert(name, waiting, len(today), now, url)


def is_alarming(waiting: Sequence[Question], asked_in_all: int) -> bool:
    """Whether three were asked within an hour, or they are a third of the day's questions and at
    least three.
    """
    if len(waiting) < _FEWEST:
        return False
    if _SHARE * len(waiting) >= asked_in_all:
        return True
    times = sorted(question.asked_at for question in waiting)
    return any(
        last - first <= HOUR for first, last in zip(times, times[_FEWEST - 1 :], strict=False)
    )
