"""Alerts of questions to an assistant that got no answer within an hour."""

from collections.abc import Sequence
from datetime import timedelta

from bot.domain.questions import Question
from bot.domain.watch import Watch
from bot.features.outcome.figures import OutcomeFigures
from bot.features.outcome.text import unanswered_alert
from bot.services import Services
from bot.slack.messenger import Post

HOUR = timedelta(hours=1)
_FEWEST = 3
_SHARE = 3  # a third of the day's questions


async def alert(services: Services, figures: OutcomeFigures, watch: Watch) -> Post | None:
    """What those whom the watch alerts are to be told; None if enough was answered."""
    now = services.clock()
    today = await figures.recent(watch)
    waiting = [
        question
        for question in today
        if question.answer_ts is None and now - question.asked_at >= HOUR
    ]
    if not is_alarming(waiting, len(today)):
        return None
    name = await services.members.name_of(watch.author_id)
    return unanswered_alert(name, waiting, len(today), now, services.identity.url)


def is_alarming(waiting: Sequence[Question], asked_in_all: int) -> bool:
    """Whether three were asked within an hour, or they are a third of the day's questions and at
    least three.
    """
    times = sorted(question.asked_at for question in waiting)
    in_threes = zip(times, times[_FEWEST - 1 :], strict=False)
    is_close = any(last - first <= HOUR for first, last in in_threes)
    return is_close or len(waiting) >= max(_FEWEST, asked_in_all / _SHARE)
