"""Reading in Slack what a payload does not hold: the message behind a link, and the question of a response."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.domain.blocker import A_PERSONS, OWN_MESSAGE
from bot.domain.case import LoggedCase, QuestionSource
from bot.slack.client import MISSING, error_of, is_transient
from bot.slack.invocation import Invocation
from bot.slack.members import Members
from bot.slack.messages import Message, is_said_to, to_message

# A modal can be opened for 3 s after the click; the search for the question must leave time for that.
_QUESTION_TIMEOUT_S = 1.5
_MESSAGE_TIMEOUT_S = 10
# Slack gives a thread from its beginning: https://docs.slack.dev/reference/methods/conversations.replies
_PAGE = 999
_CLOSE_IN_TIME_S = 15 * 60
_MESSAGES_BEFORE = 20
# A thread's parent comes along whatever the span.
_WITH_PARENT = 2
# A parent that was deleted leaves this where it has replies.
_DELETED = "tombstone"
_NOT_THERE = {"not_in_channel", "channel_not_found"}
_NOBODYS_WORDS = {"channel_join", "channel_leave", "channel_topic", "channel_purpose", "channel_name", "group_join"}

logger = structlog.get_logger(__name__)


class OutOfSightError(Exception):
    """The app is not in the channel, and so cannot read there."""


class MayNotReadError(Exception):
    """The app was not granted the scope that reads messages there."""


@dataclass(frozen=True)
class Question:
    """What is taken as the question, where it stood, and who wrote it."""

    text: str
    source: QuestionSource
    ts: str
    author_id: str | None
    edited_ts: str | None = None

    def is_edited_after(self, reply_ts: str | None) -> bool:
        """Whether its author changed it once the reply was there: it is not what the reply answers."""
        return None not in (self.edited_ts, reply_ts) and float(self.edited_ts or 0) > float(reply_ts or 0)


class Lookup:
    """Reads messages and finds questions; what it may not see it does not find.

    Where the app may not read, all raise `OutOfSightError` or `MayNotReadError`. Where Slack fails for the moment, they
    raise one of `SLACK_ERRORS`, so that the case is tried again: that says nothing about the message.
    """

    def __init__(self, client: AsyncWebClient, own_ids: frozenset[str], only_bots: Members | None = None) -> None:
        self._client = client
        self._own_ids = own_ids
        self._only_bots = only_bots

    async def message(self, case: LoggedCase) -> Message | None:
        """The message that the case is about, without words that must not be judged; None where it is out of sight."""
        if case.message_ts is None:
            return None
        try:
            message = await self.message_at(case.channel_id, case.message_ts, case.parent_ts)
            if message is None and case.parent_ts is None:  # a workflow names a reply without its thread
                message = await self.message_at(case.channel_id, case.message_ts, case.message_ts)
        except OutOfSightError:
            return None
        if message and message.author_id in self._own_ids:
            return replace(message, text="", blocker=OWN_MESSAGE)
        if message and self._only_bots and not await self._only_bots.is_known_bot(message.author_id or ""):
            return replace(message, text="", blocker=A_PERSONS)
        return message

    async def message_at(self, channel_id: str, ts: str, parent_ts: str | None) -> Message | None:
        """The message of that time in a channel, or in the thread of a parent; None where it is gone."""
        # One message alone: https://docs.slack.dev/messaging/retrieving-messages
        span: dict[str, Any] = {"oldest": ts, "latest": ts, "inclusive": True}
        if parent_ts:
            call = self._client.conversations_replies(channel=channel_id, ts=parent_ts, limit=_WITH_PARENT, **span)
        else:
            call = self._client.conversations_history(channel=channel_id, limit=1, **span)
        async with asyncio.timeout(_MESSAGE_TIMEOUT_S):
            return _with_ts(await self._messages(call), ts)

    async def message_anywhere(self, channel_id: str, ts: str) -> Message | None:
        """The message of that time, in the channel or in whichever thread; None where it is gone.

        It is found while Slack itself waits for an answer, or not at all.
        """
        # By its own ts Slack gives a reply alone, with the ts of its thread (slackapi/bolt-python#783).
        async with asyncio.timeout(_QUESTION_TIMEOUT_S):
            return await self.message_at(channel_id, ts, parent_ts=ts)

    async def question(self, case: LoggedCase) -> Question | None:
        """The thread's parent; for a message in the channel itself, the last one before it by somebody else.

        None where a person typed the question that is no longer there: another one would be a guess.
        """
        if case.message_ts is None or case.question_source is QuestionSource.TYPED:
            return None
        # The first time somebody waits for a window; later there is no hurry.
        async with asyncio.timeout(_MESSAGE_TIMEOUT_S if case.slack_tries else _QUESTION_TIMEOUT_S):
            return await self._question(case.channel_id, case.message_ts, case.parent_ts, case.author_id)

    async def answered(self, channel_id: str, message: Message) -> Question | None:
        """What a message answers: the same, where a person wrote that; None where it answers nobody."""
        async with asyncio.timeout(_MESSAGE_TIMEOUT_S):
            return await self._question(channel_id, message.ts, message.parent_ts, message.author_id, is_persons=True)

    async def above(self, invocation: Invocation, ts: str) -> Message | None:
        """What somebody means who says "score this" at `ts`: the message above in their thread, whoever wrote it.

        In the channel itself it is the last one before by somebody else. Ours are not meant, nor what is said to us.
        """
        channel_id, thread_ts = invocation.channel_id, invocation.thread_ts
        async with asyncio.timeout(_QUESTION_TIMEOUT_S):
            if thread_ts is None:
                return _last(await self._before(channel_id, ts), ts, self._is_somebody_else(invocation.user_id))
            call = self._client.conversations_replies(channel=channel_id, ts=thread_ts, latest=ts, limit=_PAGE)
            return _last(await self._messages(call, is_all=True), ts, self._is_somebody_else(None))

    async def _question(
        self, channel_id: str, ts: str, parent_ts: str | None, author_id: str | None, *, is_persons: bool = False
    ) -> Question | None:
        if parent_ts:
            call = self._client.conversations_replies(channel=channel_id, ts=parent_ts, limit=1)
            source, found = QuestionSource.PARENT, _with_ts(await self._messages(call), parent_ts)
        else:
            before = [each for each in await self._before(channel_id, ts) if not (is_persons and each.is_bots)]
            source, found = QuestionSource.PREVIOUS, _last(before, ts, self._is_somebody_else(author_id))
        if found is None or not found.text or (is_persons and found.is_bots):
            return None
        return Question(found.text, source, found.ts, found.author_id, found.edited_ts)

    async def _before(self, channel_id: str, ts: str) -> list[Message]:
        oldest = f"{float(ts) - _CLOSE_IN_TIME_S:.6f}"
        span: dict[str, Any] = {"latest": ts, "oldest": oldest, "limit": _MESSAGES_BEFORE}
        return await self._messages(self._client.conversations_history(channel=channel_id, **span))

    def _is_somebody_else(self, author_id: str | None) -> Callable[[Message], bool]:
        def is_it(message: Message) -> bool:
            is_to_us = any(is_said_to(own, message.text) for own in self._own_ids)
            is_theirs = message.author_id in {author_id, *self._own_ids}
            return message.subtype not in _NOBODYS_WORDS and not (is_theirs or is_to_us)

        return is_it

    async def _messages(self, call: Awaitable[AsyncSlackResponse], *, is_all: bool = False) -> list[Message]:
        """The messages that Slack answers with; with `is_all`, also those of the pages that follow."""
        found: list[Message] = []
        try:
            async for page in await call:
                found += [to_message(raw) for raw in page.get("messages") or []]
                if not is_all:
                    break
        except SlackApiError as exc:
            if is_transient(exc):
                raise
            error = error_of(exc)
            logger.info("lookup_refused", error=error)
            if error in _NOT_THERE:
                raise OutOfSightError from exc
            if error == MISSING:
                raise MayNotReadError from exc
            return []
        return [message for message in found if message.subtype != _DELETED]


def _last(messages: Iterable[Message], before_ts: str, is_meant: Callable[[Message], bool]) -> Message | None:
    """The last of these messages that is meant, before a time."""
    before = (each for each in messages if float(each.ts) < float(before_ts) and is_meant(each))
    return max(before, key=lambda message: float(message.ts), default=None)


def _with_ts(messages: Iterable[Message], ts: str) -> Message | None:
    return next((message for message in messages if message.ts == ts), None)
