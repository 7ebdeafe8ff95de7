"""Has a model read what was written after an assistant's answer: whether it helped, was contested,
or sent the asker to people.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import sqlalchemy as sa
import structlog

from bot.domain.outcome import last_of_threads
from bot.domain.questions import Question, SeenMessage, questions_to, to_time
from bot.domain.watch import Watch
from bot.pipeline.asking import BudgetError, ask, writer_of
from bot.pipeline.lookup import UNREADABLE
from bot.pipeline.retries import in_brief
from bot.services import Services
from bot.slack.messages import Message, to_message
from bot.store.seen_messages import AskedThread, SeenMessages, ThreadSigns
from judge import JudgeError, Turn
from judge.evaluation.signs import find_signs

_AT_REST = timedelta(hours=1)
_ASKED_FOR = timedelta(hours=72)  # after the question; what comes later is not read
_CONTEXT = timedelta(days=14)
_PAUSE = timedelta(minutes=10)
_PAGE = 200
_DAY = timedelta(days=1)
_NO_LIMIT = 10_000

logger = structlog.get_logger(__name__)


class SignReader:
    """Asks once for a thread that has rested, and again if something is written later."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._seen = SeenMessages(services.store.database)
        self._signs = ThreadSigns(services.store.database)
        self._limits = services.limits.of_automation("Watches")
        self._next: datetime | None = None

    async def look(self) -> None:
        """Asks about the threads that are due; a limit or a dead model ends it for ten minutes."""
        now = self._services.clock()
        if self._services.judges is None or (self._next and now < self._next):
            return
        self._next = now + _PAUSE
        team_id = self._services.identity.team_id
        asked = await self._signs.asked(team_id, now - _CONTEXT)
        try:
            for watch in await self._services.store.watches.of(team_id):
                here = [row for row in asked if _is_of(row, watch)]
                for question in await self._due(watch, here, now):
                    await self._ask(watch, question)
        except (BudgetError, JudgeError) as exc:
            logger.warning("judge_failed", error=type(exc).__name__, reason=str(exc))

    async def _due(
        self, watch: Watch, asked: Sequence[sa.Row[Any]], now: datetime
    ) -> Sequence[Question]:
        """The questions in whose threads something is to be read, at most as many a day as the
        watch may score replies.
        """
        messages = await self._seen.of(watch.team_id, [watch.channel_id], now - _CONTEXT)
        read = {(row.thread_ts, row.last_ts) for row in asked}
        rested = _rested(watch, messages, now)
        due = [each for each in rested if (each.thread_ts, each.last_ts) not in read]
        today = sum(row.asked_at >= now - _DAY for row in asked)
        return due[: max((watch.per_day or _NO_LIMIT) - today, 0)]

    async def _ask(self, watch: Watch, question: Question) -> None:
        services = self._services
        judge = await writer_of(services.judges, watch.team_id, watch.channel_id)
        if not judge:
            return
        thread = AskedThread(watch.team_id, watch.channel_id, question.thread_ts, watch.author_id)
        last_ts = question.last_ts or ""
        # Before anything is read: from here on, what is forgotten takes the claim with it.
        held_until = await self._signs.claim(thread, last_ts, services.clock())
        said = await self._said(watch, question) if held_until else ()
        if held_until is None or not said:
            return
        async with services.background():
            request = partial(find_signs, judge.write, said)
            found = await ask(services.store, self._limits, watch.team_id, request)
        await self._signs.note(thread, held_until, found.signs, last_ts)

    async def _said(self, watch: Watch, question: Question) -> Sequence[Turn]:
        """The messages from the question on that are stored as seen, with their authors: not those
        of people who had their words forgotten; none if Slack does not say.
        """
        messages = await self._seen.of(watch.team_id, [watch.channel_id], question.asked_at)
        seen = {message.ts for message in messages if message.author_id}
        try:
            pages = await self._services.client.conversations_replies(
                channel=watch.channel_id,
                ts=question.thread_ts,
                oldest=question.ts,
                inclusive=True,
                limit=_PAGE,
            )
        except UNREADABLE as exc:
            logger.warning("reply_not_read", channel=watch.channel_id, error=in_brief(exc))
            return ()
        thread = [to_message(raw) for raw in pages.get("messages") or []]
        kept = [message for message in thread if message.ts in seen and message.text]
        return [Turn(_role(message, watch, question), message.text) for message in kept]


def _role(message: Message, watch: Watch, question: Question) -> str:
    if message.author_id == watch.author_id:
        return "the assistant"
    if message.author_id == question.asker_id:
        return "the asker"
    return "another app" if message.is_bots else "a colleague"


def _rested(watch: Watch, messages: Sequence[SeenMessage], now: datetime) -> list[Question]:
    """The last question of each thread after whose answer a person wrote, if it has rested since."""
    last = last_of_threads(questions_to(watch.author_id, messages, now)).values()
    return [
        question
        for question in last
        if question.asker_id
        and now - _ASKED_FOR <= question.asked_at
        and now - to_time(question.last_ts or question.ts) >= _AT_REST
    ]


def _is_of(row: sa.Row[Any], watch: Watch) -> bool:
    return (row.channel_id, row.author_id) == (watch.channel_id, watch.author_id)
