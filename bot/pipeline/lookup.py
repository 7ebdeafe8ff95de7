"""Reads from Slack what a payload does not contain: the message behind a link, and the question of
a response.
"""

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.domain.blocker import (
    A_PERSONS,
    ANOTHERS,
    OWN_MESSAGE,
)
from bot.domain.case import Exclusion, LoggedCase, QuestionSource, Visibility
from bot.pipeline.exchange import Exchange, Question, is_anybodys, to_exchange
from bot.slack.client import MISSING, SLACK_ERRORS, error_of, is_transient, needed_scope
from bot.slack.invocation import Invocation
from bot.slack.members import SLACKBOT, Members
from bot.slack.messages import Message, to_message

# A modal must be opened within 3 s of the click; the search for the question must leave time for
# that.
_QUESTION_TIMEOUT_S = 1.5
_MESSAGE_TIMEOUT_S = 10
_PAGE = 999
_CLOSE_IN_TIME_S = 15 * 60
_MESSAGES_BEFORE = 20
# The parent of a thread is always returned, whatever the span.
_WITH_PARENT = 2
# The subtype that a deleted parent with replies gets.
_DELETED = "tombstone"

logger = structlog.get_logger(__name__)


class NotReadableError(Exception):
    """The app is not in the channel, or lacks the scope to read messages there; it says which as
    Slack does.
    """


UNREADABLE = (NotReadableError, *SLACK_ERRORS)


class Marks(NamedTuple):
    """What a case is given for the author of its reply; None leaves it as it is."""

    excluded: Exclusion | None = None
    visibility: Visibility | None = None


@dataclass(frozen=True)
class Lookup:
    """Reads messages and finds questions.

    If the app may not read, all methods raise `NotReadableError`. If Slack fails temporarily, which
    says nothing about the message, they raise one of `SLACK_ERRORS`, and the case is tried again.
    """

    client: AsyncWebClient
    own_ids: frozenset[str]
    members: Members
    scores_people: bool | Literal["private"] = True

    async def exchange(self, case: LoggedCase) -> Exchange | None:
        """The reply of the case with its question; None if out of sight.

        What must not be judged has a blocker.
        """
        if case.message_ts is None:
            return None
        # In the first attempt, a person may be waiting for a window; later there is no hurry.
        is_asked_here = case.response is not None and not case.slack_tries
        async with asyncio.timeout(_QUESTION_TIMEOUT_S if is_asked_here else _MESSAGE_TIMEOUT_S):
            chosen = case.question_ts if case.question_source is QuestionSource.CHOSEN else None
            found = await self._exchange(case.channel_id, case.message_ts, case.parent_ts, chosen)
        if found is None:
            return None
        if blocker := await self.blocker_of(found.reply[0].author_id):
            found = replace(found, reply=(replace(found.reply[0], text="", blocker=blocker),))
        return found

    async def blocker_of(self, author_id: str | None) -> str | None:
        """Why messages of this author are not scored; None if they are."""
        if author_id in self.own_ids:
            return OWN_MESSAGE
        if author_id and await self.members.is_known_foreign(author_id):
            return ANOTHERS
        return None if self.scores_people or not await self._is_persons(author_id) else A_PERSONS

    async def marks_of(self, author_id: str | None) -> Marks:
        """A person's reply is in no figure, and unless set otherwise private."""
        if self.scores_people is False or not await self._is_persons(author_id):
            return Marks()
        is_private = self.scores_people == "private"
        return Marks(Exclusion.PERSON, Visibility.ME if is_private else None)

    async def _is_persons(self, author_id: str | None) -> bool:
        return not await self.members.is_known_bot(author_id or "")

    async def answered(self, channel_id: str, ts: str, parent_ts: str | None) -> Exchange | None:
        """The reply that a message belongs to, with the person's question; None if the message is
        gone.
        """
        async with asyncio.timeout(_MESSAGE_TIMEOUT_S):
            return await self._exchange(channel_id, ts, parent_ts, is_persons=True)

    async def message_at(self, channel_id: str, ts: str, parent_ts: str | None) -> Message | None:
        """The message with this ts in a channel, or in the thread of a parent; None if it is gone."""
        # Asks for a single message: https://docs.slack.dev/messaging/retrieving-messages
        span: dict[str, Any] = {"oldest": ts, "latest": ts, "inclusive": True}
        if parent_ts:
            call = self.client.conversations_replies(
                channel=channel_id, ts=parent_ts, limit=_WITH_PARENT, **span
            )
        else:
            call = self.client.conversations_history(channel=channel_id, limit=1, **span)
        async with asyncio.timeout(_MESSAGE_TIMEOUT_S):
            return _with_ts(await self._messages(call), ts)

    async def message_anywhere(self, channel_id: str, ts: str) -> Message | None:
        """The message with this ts, in the channel or any thread; None if gone.

        Raises TimeoutError if Slack waits.
        """
        # Given a reply's own ts, Slack returns the reply alone, with the ts of its thread
        # (slackapi/bolt-python#783).
        async with asyncio.timeout(_QUESTION_TIMEOUT_S):
            return await self.message_at(channel_id, ts, parent_ts=ts)

    async def above(self, invocation: Invocation, ts: str) -> Message | None:
        """The message that a person who says "score this" at `ts` means: the one above in the
        thread, by any author.

        In the channel itself, it is the last message before by somebody else. Messages by or to the
        app do not count.
        """
        channel_id = invocation.channel_id
        thread_ts = invocation.thread_ts
        async with asyncio.timeout(_QUESTION_TIMEOUT_S):
            if thread_ts is None:
                before = await self._near(channel_id, ts)
                by = invocation.user_id
            else:
                call = self.client.conversations_replies(
                    channel=channel_id, ts=thread_ts, latest=ts, limit=_PAGE
                )
                before = await self._messages(call, is_all=True)
                by = None
            meant = [each for each in self._said_before(before, ts) if each.author_id != by]
            return meant[-1] if meant else None

    async def _exchange(
        self,
        channel_id: str,
        ts: str,
        parent_ts: str | None,
        chosen: str | None = None,
        *,
        is_persons: bool = False,
    ) -> Exchange | None:
        """The exchange of a message; with `is_persons`, what another app says in the channel itself
        is no question.
        """
        if parent_ts is None:
            near = await self._near(channel_id, ts)
            message = _with_ts(near, ts)
            if message is None:
                return None
            if message.parent_ts:
                # It was also sent to the channel, and its link may lack the thread.
                return await self._exchange(
                    channel_id, ts, message.parent_ts, is_persons=is_persons
                )
            # A thread may begin with the reply, and go on with more of it.
            found = await self._in_thread(channel_id, ts, ts) if message.begins_thread else None
            return replace(
                found or Exchange((message,)), question=await self._above(near, message, is_persons)
            )
        found = await self._in_thread(channel_id, parent_ts, ts, chosen)
        if found and found.reply[0].parent_ts is None:
            # The whole thread up to the message is its author's.
            near = await self._near(channel_id, parent_ts)
            return replace(found, question=await self._above(near, found.reply[0], is_persons))
        return found

    async def _in_thread(
        self, channel_id: str, parent_ts: str, ts: str, chosen: str | None = None
    ) -> Exchange | None:
        call = self.client.conversations_replies(channel=channel_id, ts=parent_ts, limit=_PAGE)
        messages = await self._messages(call, is_all=True)
        judged = {each.author_id for each in messages if each.ts == ts}
        persons = await self._persons(
            each for each in messages if each.author_id not in judged | self.own_ids
        )
        return to_exchange(messages, ts, self.own_ids, persons, chosen)

    async def _persons(self, messages: Iterable[Message]) -> set[str]:
        """The people among the authors: an app can post for a person, with its bot id and their
        user id.
        """
        by_app = {each.author_id: each.is_bots for each in messages if each.author_id}
        asked = [
            author_id for author_id, is_bots in by_app.items() if is_bots and author_id[0] in "UW"
        ]
        known = await self.members.people(asked) if asked else set()
        return known | {
            author_id
            for author_id, is_bots in by_app.items()
            if not is_bots and author_id != SLACKBOT
        }

    async def _above(
        self, near: Sequence[Message], message: Message, is_persons: bool
    ) -> Question | None:
        """The last message before another one in the channel itself, by somebody else, as its
        question.
        """
        said = self._said_before(near, message.ts)
        others = [each for each in said if each.author_id != message.author_id]
        if is_persons:
            persons = await self._persons(others)
            others = [each for each in others if each.author_id in persons]
        if not others or not others[-1].text:
            return None
        asked = others[-1]
        source = QuestionSource.PREVIOUS if asked is said[-1] else QuestionSource.EARLIER
        return Question((asked,), source, asked.author_id)

    def _said_before(self, messages: Iterable[Message], ts: str) -> list[Message]:
        """What was said before a ts, in its order."""
        said = [
            each
            for each in messages
            if float(each.ts) < float(ts) and is_anybodys(each, self.own_ids)
        ]
        return sorted(said, key=lambda each: float(each.ts))

    async def _near(self, channel_id: str, ts: str) -> list[Message]:
        """The messages of a channel shortly before one, and that one."""
        oldest = f"{float(ts) - _CLOSE_IN_TIME_S:.6f}"
        span: dict[str, Any] = {
            "latest": ts,
            "oldest": oldest,
            "inclusive": True,
            "limit": _MESSAGES_BEFORE + 1,
        }
        return await self._messages(self.client.conversations_history(channel=channel_id, **span))

    async def _messages(
        self, call: Awaitable[AsyncSlackResponse], *, is_all: bool = False
    ) -> list[Message]:
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
            logger.info("lookup_refused", error=error, needed=needed_scope(exc))
            if error in {"not_in_channel", "channel_not_found", MISSING}:
                raise NotReadableError(error) from exc
            return []
        return [message for message in found if message.subtype != _DELETED]


def _with_ts(messages: Iterable[Message], ts: str) -> Message | None:
    return next((message for message in messages if message.ts == ts), None)
