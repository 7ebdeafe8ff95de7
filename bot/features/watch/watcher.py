"""From a reply that was seen to a case: drawn, waited for until it is finished, read anew, taken in."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError

from bot.domain.blocker import RefusedError
from bot.domain.case import Case, CaseSource, Visibility, text_hash
from bot.domain.label import Reaction
from bot.domain.watch import LATE, MOST_OF_A_QUESTION, ReplyOutcome, SeenReply, Watch, age_of, draws, is_since
from bot.feature import Services
from bot.pipeline.lookup import MayNotReadError, OutOfSightError, Question
from bot.slack.client import connection_word, slack_word
from bot.slack.members import AnswerCache
from bot.slack.messages import Message, to_message

Raw = dict[str, Any]

# All others are Slack's own notices, such as joins.
_REPLIES = {None, "bot_message", "file_share", "thread_broadcast"}
_IN_PROGRESS, _ERRORED = "in_progress", "errored"


def author_of(event: Raw) -> str | None:
    """Who wrote the message that an event tells of; None where no bot did, or where there is nothing to read."""
    raw = message_of(event)
    if raw.get("subtype") not in _REPLIES or not raw.get("bot_id"):
        return None
    return str(raw.get("user") or raw["bot_id"])


def to_reply(team_id: str, channel_id: str, raw: Raw) -> SeenReply:
    """The reply as it is now: a message of an event or of `conversations.*`, by an assistant.

    Source: https://docs.slack.dev/reference/events/message
    """
    message = to_message(raw)
    is_written = message.streaming != _IN_PROGRESS
    words = text_hash(message.text) if is_written else None
    return SeenReply(team_id, channel_id, message.ts, message.author_id or "", message.parent_ts, words)


def message_of(event: Raw) -> Raw:
    return event["message"] if event.get("subtype") == "message_changed" else event


REST = timedelta(seconds=30)
"""A reply that has not changed for so long is finished."""
_STREAMED_FOR = timedelta(hours=1)
_KEPT_S = 30.0
_MOST_TEAMS = 1000
Watched = Mapping[tuple[str, str], Watch]
"""Watches by channel and assistant."""

logger = structlog.get_logger(__name__)


class Watcher:
    """Sees replies of watched assistants, and takes in those that are drawn once they are finished."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._store = services.store
        # A watch has limits of its own: those of a person do not count its cases.
        self._limits = replace(services.limits, cases_per_user_per_hour=0)
        self._watches = AnswerCache(self._read, _KEPT_S, _MOST_TEAMS)
        self._working = asyncio.Lock()

    async def save(self, watch: Watch, by: str) -> None:
        """Records a watch; other processes go by it within half a minute."""
        await self._store.watches.save(watch, by)
        self._watches.forget(watch.team_id)

    async def end(self, watch: Watch, by: str) -> None:
        await self._store.watches.end(watch, by)
        self._watches.forget(watch.team_id)

    async def watch_of(self, team_id: str, event: Mapping[str, Any]) -> Watch | None:
        """The watch that a message event is of; None for nearly all events."""
        author_id = author_of(dict(event))
        return (await self._watches.get(team_id)).get((event.get("channel", ""), author_id)) if author_id else None

    async def watches(self, reaction: Reaction) -> bool:
        """Whether a reaction is under a message that a watched assistant wrote since its watch was begun."""
        watch = (await self._watches.get(reaction.team_id)).get((reaction.channel_id, reaction.author_id or ""))
        return watch is not None and float(reaction.ts) >= watch.since.timestamp()

    async def note(self, body: Mapping[str, Any]) -> None:
        event = body["event"]
        watch = await self.watch_of(body["team_id"], event)
        if watch is None:
            return
        reply, now = to_reply(watch.team_id, watch.channel_id, message_of(event)), self.services.clock()
        if not is_since(watch, reply.ts):
            return
        if event.get("subtype") != "message_changed":
            await self._store.replies.note(reply, watch, now + REST)
        elif draws(watch, reply.ts):  # what was passed over may change as it likes
            await self._store.replies.wait_on(reply, now + REST)

    async def answered(self, channel_id: str, message: Message) -> Question | None:
        """What a watched message answers; None where it is no answer to anybody, or no whole one, or our own.

        Raises:
            OutOfSightError, MayNotReadError, SlackApiError, ClientError, TimeoutError: As `Lookup.answered`.
        """
        is_whole = message.blocker is None and message.streaming not in {_IN_PROGRESS, _ERRORED}
        if not is_whole or message.author_id in self.services.identity.own_ids:
            return None
        return await self.services.lookup.answered(channel_id, message)

    async def take_finished(self) -> None:
        """Takes in what was drawn and is at rest; what cannot be read now is left for the next time."""
        if self._working.locked():
            return
        async with self._working:
            watches = await self._read(self.services.identity.team_id)
            for reply, probability in await self._store.replies.due(
                self.services.identity.team_id, self.services.clock()
            ):
                try:
                    outcome = await self._take(reply, probability, watches.get((reply.channel_id, reply.author_id)))
                except SlackApiError as exc:
                    logger.warning("reply_not_read", channel=reply.channel_id, error=slack_word(exc))
                    return
                except (aiohttp.ClientError, TimeoutError) as exc:
                    logger.warning("reply_not_read", channel=reply.channel_id, error=connection_word(exc))
                    return
                if outcome:
                    await self._store.replies.settle(reply, outcome)

    async def _take(self, reply: SeenReply, probability: float, watch: Watch | None) -> ReplyOutcome | None:
        """What has become of a reply; None where it is waited for."""
        age = age_of(reply.ts, self.services.clock())
        if watch is None or age > LATE or not self.services.policy.allows_messages_of(reply.channel_id):
            return ReplyOutcome.MISSED
        if reply.parent_ts:
            used = await self._store.replies.used(reply, reply.parent_ts)
            if used.of_question >= MOST_OF_A_QUESTION:
                return ReplyOutcome.OVER  # without reading it: an endless thread has many
        try:
            message = await self.services.lookup.message_at(reply.channel_id, reply.ts, reply.parent_ts)
            if message is None:
                return ReplyOutcome.NO_ANSWER
            is_written = message.streaming != _IN_PROGRESS
            found = replace(reply, text_hash=text_hash(message.text) if is_written else None)
            if (found.text_hash is None and age < _STREAMED_FOR) or found.text_hash != reply.text_hash:
                await self._store.replies.wait_on(found, self.services.clock() + REST)
                return None
            question = await self.answered(reply.channel_id, message)
        except (OutOfSightError, MayNotReadError):
            return ReplyOutcome.MISSED
        if question is None:
            return ReplyOutcome.NO_ANSWER
        if await self._is_over(watch, reply, question):
            return ReplyOutcome.OVER
        try:
            await self._store.add(await self._case(watch, message, question, probability), limits=self._limits)
        except RefusedError:
            return ReplyOutcome.OVER
        return ReplyOutcome.TAKEN

    async def _is_over(self, watch: Watch, reply: SeenReply, question: Question) -> bool:
        used = await self._store.replies.used(reply, question.ts)
        tokens = (await self._store.digests.channel(watch.team_id, watch.channel_id)).watch_tokens_per_day or 0
        limits = (watch.per_day, used.replies), (MOST_OF_A_QUESTION, used.of_question), (tokens, used.tokens)
        return any(used >= most > 0 for most, used in limits)

    async def _case(self, watch: Watch, message: Message, question: Question, probability: float) -> Case:
        return Case(
            key=f"watch:{watch.channel_id}:{message.ts}",
            team_id=watch.team_id,
            channel_id=watch.channel_id,
            requester_id=self.services.identity.user_id,
            requester_name=self.services.identity.user,
            source=CaseSource.WATCH,
            rubric=await self.services.rubrics.used(watch.team_id, watch.channel_id),
            visibility=Visibility.THREAD,
            message_ts=message.ts,
            parent_ts=message.parent_ts,
            author_id=message.author_id,
            probability=probability,
            shows=watch.shows,
            question=question.text,
            question_source=question.source,
            question_ts=question.ts,
            question_author_id=question.author_id,
            response=message.text,
        )

    async def _read(self, team_id: str) -> Watched:
        return {(watch.channel_id, watch.author_id): watch for watch in await self._store.watches.of(team_id)}


_LATEST = 200
_MOST_MEMBERS = 100
_PATIENCE_S = 3.0


async def assistants(services: Services, channel_id: str, name: str = "") -> Mapping[str, str]:
    """The names of the bots that wrote lately in a channel, by id; where none did or is called `name`, of all in it.

    Raises:
        SlackApiError, ClientError, TimeoutError: Slack does not let us read, or not now.
    """
    answer = await services.client.conversations_history(channel=channel_id, limit=_LATEST)
    wrote: dict[str, None] = {}
    for raw in answer.get("messages") or []:
        if raw.get("bot_id"):
            wrote[raw.get("user") or raw["bot_id"]] = None
        wrote |= dict.fromkeys(raw.get("reply_users") or [])
    found = await _bots(services, wrote)
    if any(is_named(name, author_id, found) for author_id in found) if name else found:
        return found
    there = await services.client.conversations_members(channel=channel_id, limit=_MOST_MEMBERS)
    return found | await _bots(services, there.get("members") or [])


async def _bots(services: Services, ids: Iterable[str]) -> dict[str, str]:
    others = [each for each in ids if each not in services.identity.own_ids]
    found = await services.members.of_all(others, _PATIENCE_S)
    return {author_id: member.name for author_id, member in found.items() if member.is_bot}


def is_named(name: str, author_id: str, names: Mapping[str, str]) -> bool:
    """Whether an assistant is meant by what was typed: its name, or its id."""
    return name.lower() in {author_id.lower(), names[author_id].lower()}
