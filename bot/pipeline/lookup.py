"""Reads from Slack what a payload does not contain: the message behind a link, and the question of a response."""

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

# A modal must be opened within 3 s of the click; the search for the question must leave time for that.
_QUESTION_TIMEOUT_S = 1.5
_MESSAGE_TIMEOUT_S = 10
# Slack returns a thread from its beginning: https://docs.slack.dev/reference/methods/conversations.replies
_PAGE = 999
_CLOSE_IN_TIME_S = 15 * 60
_MESSAGES_BEFORE = 20
# The parent of a thread is always returned, whatever the span.
_WITH_PARENT = 2
# The subtype that a deleted parent with replies gets.
_DELETED = "tombstone"
_NOT_THERE = {"not_in_channel", "channel_not_found"}
_NOBODYS_WORDS = {"channel_join", "channel_leave", "channel_topic", "channel_purpose", "channel_name", "group_join"}

logger = structlog.get_logger(__name__)


class OutOfSightError(Exception):
    """The app is not in the channel, so it cannot read there."""


class MayNotReadError(Exception):
    """The app lacks the scope to read messages there."""


@dataclass(frozen=True)
class Question:
    """The text that is taken as the question, where it was found, and who wrote it."""

    text: str
    source: QuestionSource
    ts: str
    author_id: str | None
    edited_ts: str | None = None

    def is_edited_after(self, reply_ts: str | None) -> bool:
        """Whether its author edited it after the reply, so that the reply answers something else."""
        return None not in (self.edited_ts, reply_ts) and float(self.edited_ts or 0) > float(reply_ts or 0)


class Lookup:
    """Reads messages and finds questions.

    If the app may not read, all methods raise `OutOfSightError` or `MayNotReadError`. If Slack fails temporarily, which
    says nothing about the message, they raise one of `SLACK_ERRORS`, and the case is tried again.
    """

    def __init__(self, client: AsyncWebClient, own_ids: frozenset[str], only_bots: Members | None = None) -> None:
        self._client = client
        self._own_ids = own_ids
        self._only_bots = only_bots

    async def message(self, case: LoggedCase) -> Message | None:
        """The message of the case, without its text if that must not be judged; None if it is gone or out of sight."""
        if case.message_ts is None:
            return None
        try:
            message = await self.message_at(case.channel_id, case.message_ts, case.parent_ts)
            if message is None and case.parent_ts is None:  # a workflow's link to a reply lacks the thread
                message = await self.message_at(case.channel_id, case.message_ts, case.message_ts)
        except OutOfSightError:
            return None
        if message and message.author_id in self._own_ids:
            return replace(message, text="", blocker=OWN_MESSAGE)
        if message and self._only_bots and not await self._only_bots.is_known_bot(message.author_id or ""):
            return replace(message, text="", blocker=A_PERSONS)
        return message

    async def message_at(self, channel_id: str, ts: str, parent_ts: str | None) -> Message | None:
        """The message with this ts in a channel, or in the thread of a parent; None if it is gone."""
        # Asks for a single message: https://docs.slack.dev/messaging/retrieving-messages
        span: dict[str, Any] = {"oldest": ts, "latest": ts, "inclusive": True}
        if parent_ts:
            call = self._client.conversations_replies(channel=channel_id, ts=parent_ts, limit=_WITH_PARENT, **span)
        else:
            call = self._client.conversations_history(channel=channel_id, limit=1, **span)
        async with asyncio.timeout(_MESSAGE_TIMEOUT_S):
            return _with_ts(await self._messages(call), ts)

    async def message_anywhere(self, channel_id: str, ts: str) -> Message | None:
        """The message with this ts, in the channel or in any thread; None if it is gone.

        Raises TimeoutError if it is not found while Slack waits for our answer.
        """
        # Given a reply's own ts, Slack returns the reply alone, with the ts of its thread (slackapi/bolt-python#783).
        async with asyncio.timeout(_QUESTION_TIMEOUT_S):
            return await self.message_at(channel_id, ts, parent_ts=ts)

    async def question(self, case: LoggedCase) -> Question | None:
        """The thread's parent; for a message in the channel itself, the last one before it by somebody else.

        None if a person typed the question, but it is no longer stored: any other question would be a guess.
        """
        if case.message_ts is None or case.question_source is QuestionSource.TYPED:
            return None
        # In the first attempt, a person may be waiting for a window; later there is no hurry.
        async with asyncio.timeout(_MESSAGE_TIMEOUT_S if case.slack_tries else _QUESTION_TIMEOUT_S):
            return await self._question(case.channel_id, case.message_ts, case.parent_ts, case.author_id)

    async def answered(self, channel_id: str, message: Message) -> Question | None:
        """The question that a message answers, found like `question`; None if it does not answer a person."""
        async with asyncio.timeout(_MESSAGE_TIMEOUT_S):
            return await self._question(channel_id, message.ts, message.parent_ts, message.author_id, is_persons=True)

    async def above(self, invocation: Invocation, ts: str) -> Message | None:
        """The message that a person who says "score this" at `ts` means: the one above in the thread, by any author.

        In the channel itself, it is the last message before by somebody else. Messages by or to the app do not count.
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
        """The messages in Slack's answer; with `is_all`, also those of all further pages."""
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
    """The last of these messages before a ts that `is_meant` accepts."""
    before = (each for each in messages if float(each.ts) < float(before_ts) and is_meant(each))
    return max(before, key=lambda message: float(message.ts), default=None)


def _with_ts(messages: Iterable[Message], ts: str) -> Message | None:
    return next((message for message in messages if message.ts == ts), None)
