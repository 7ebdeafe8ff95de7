"""From a reply that was seen to a case: drawn, waited for until it is finished, read anew, taken in."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.blocker import RefusedError
from bot.domain.case import Case, CaseSource, Visibility, text_hash
from bot.domain.clock import Clock, utc_now
from bot.domain.label import Reaction
from bot.domain.limits import Limits, Policy
from bot.domain.watch import LATE, MOST_OF_A_QUESTION, ReplyOutcome, SeenReply, Watch, age_of, draws, is_since
from bot.pipeline.judges import RubricChoice
from bot.pipeline.lookup import Lookup, MayNotReadError, OutOfSightError, Question
from bot.slack.client import Identity, connection_word, slack_word
from bot.slack.members import AnswerCache, Members
from bot.slack.messages import Message, to_message
from bot.store import Store

Raw = dict[str, Any]

# All others are Slack's own notices, such as joins.
_REPLIES = {None, "bot_message", "file_share", "thread_broadcast"}
_IN_PROGRESS = "in_progress"


def author_of(event: Raw) -> str | None:
    """Who wrote the message that an event tells of; None where no bot did, or where there is nothing to read."""
    raw = _message_of(event)
    if raw.get("subtype") not in _REPLIES or not raw.get("bot_id"):
        return None
    return str(raw.get("user") or raw["bot_id"])


def to_reply(team_id: str, event: Raw) -> SeenReply:
    """The reply as it is now, by an event that has an author.

    Source: https://docs.slack.dev/reference/events/message
    """
    return seen_reply(team_id, event.get("channel", ""), _message_of(event))


def seen_reply(team_id: str, channel_id: str, raw: Raw) -> SeenReply:
    """The same for a message of `conversations.*`."""
    message = to_message(raw)
    is_written = message.streaming != _IN_PROGRESS
    words = text_hash(message.text) if is_written else None
    return SeenReply(team_id, channel_id, message.ts, message.author_id or "", message.parent_ts, words)


def _message_of(event: Raw) -> Raw:
    return event["message"] if event.get("subtype") == "message_changed" else event


REST = timedelta(seconds=30)
"""A reply that has not changed for so long is finished."""
_STREAMED_FOR = timedelta(hours=1)
_KEPT_S = 30.0
_MOST_TEAMS = 1000
_WATCHER_IN_PROGRESS, _ERRORED = "in_progress", "errored"

Watched = Mapping[tuple[str, str], Watch]
"""Watches by channel and assistant."""

logger = structlog.get_logger(__name__)


class Watcher:
    """Sees replies of watched assistants, and takes in those that are drawn once they are finished."""

    def __init__(
        self,
        store: Store,
        lookup: Lookup,
        identity: Identity,
        limits: Limits,
        policy: Policy,
        rubrics: RubricChoice,
        clock: Clock = utc_now,
    ) -> None:
        self._store = store
        self._lookup = lookup
        self._identity = identity
        self._limits = replace(limits, cases_per_user_per_hour=0)  # a watch is no person
        self._policy = policy
        self._rubrics = rubrics
        self._now = clock
        self._watches = AnswerCache(self._read, _KEPT_S, _MOST_TEAMS)
        self._working = asyncio.Lock()

    async def save(self, watch: Watch, by: str) -> None:
        """Records a watch; other processes go by it within half a minute."""
        await self._store.watches.save(watch, by)
        self._watches.forget(watch.team_id)

    async def end(self, watch: Watch, by: str) -> None:
        await self._store.watches.end(watch, by)
        self._watches.forget(watch.team_id)

    def serves(self, channel_id: str) -> bool:
        return self._policy.allows_messages_of(channel_id)

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
        reply, now = to_reply(watch.team_id, event), self._now()
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
        is_whole = message.blocker is None and message.streaming not in {_WATCHER_IN_PROGRESS, _ERRORED}
        if not is_whole or message.author_id in self._identity.own_ids:
            return None
        return await self._lookup.answered(channel_id, message)

    async def take_finished(self) -> None:
        """Takes in what was drawn and is at rest; what cannot be read now is left for the next time."""
        if self._working.locked():
            return
        async with self._working:
            watches = await self._read(self._identity.team_id)
            for reply, probability in await self._store.replies.due(self._identity.team_id, self._now()):
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
        age = age_of(reply.ts, self._now())
        if watch is None or age > LATE or not self.serves(reply.channel_id):
            return ReplyOutcome.MISSED
        if reply.parent_ts and await self._has_enough(reply, reply.parent_ts):
            return ReplyOutcome.OVER  # without reading it: an endless thread has many
        try:
            message = await self._lookup.message_at(reply.channel_id, reply.ts, reply.parent_ts)
            if message is None:
                return ReplyOutcome.NO_ANSWER
            found = replace(
                reply, text_hash=None if message.streaming == _WATCHER_IN_PROGRESS else text_hash(message.text)
            )
            if (found.text_hash is None and age < _STREAMED_FOR) or found.text_hash != reply.text_hash:
                await self._store.replies.wait_on(found, self._now() + REST)
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

    async def _has_enough(self, reply: SeenReply, question_ts: str) -> bool:
        return (await self._store.replies.used(reply, question_ts)).of_question >= MOST_OF_A_QUESTION

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
            requester_id=self._identity.user_id,
            requester_name=self._identity.user,
            source=CaseSource.WATCH,
            rubric=await self._rubrics.used(watch.team_id, watch.channel_id),
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


class Assistants:
    """Reads in a channel who answers there."""

    def __init__(self, client: AsyncWebClient, members: Members, own_ids: frozenset[str]) -> None:
        self._client = client
        self._members = members
        self._own_ids = own_ids

    async def listed(self, channel_id: str) -> Mapping[str, str]:
        """The names of the bots that wrote lately in a channel, by id, and where none did, of those that are in it.

        Raises:
            SlackApiError, ClientError, TimeoutError: Slack does not let us read, or not now.
        """
        return await self._bots(await self._writers(channel_id)) or await self._members_of(channel_id)

    async def called(self, channel_id: str, name: str) -> Mapping[str, str]:
        """The names of the bots of a channel, by id: those that wrote lately, and where none is called so, all members.

        Raises:
            SlackApiError, ClientError, TimeoutError: Slack does not let us read, or not now.
        """
        found = await self._bots(await self._writers(channel_id))
        if not any(is_named(name, author_id, found) for author_id in found):
            found |= await self._members_of(channel_id)
        return found

    async def _members_of(self, channel_id: str) -> dict[str, str]:
        answer = await self._client.conversations_members(channel=channel_id, limit=_MOST_MEMBERS)
        return await self._bots(answer.get("members") or [])

    async def _writers(self, channel_id: str) -> Iterable[str]:
        answer = await self._client.conversations_history(channel=channel_id, limit=_LATEST)
        wrote: dict[str, None] = {}
        for raw in answer.get("messages") or []:
            if raw.get("bot_id"):
                wrote[raw.get("user") or raw["bot_id"]] = None
            wrote |= dict.fromkeys(raw.get("reply_users") or [])
        return wrote

    async def _bots(self, ids: Iterable[str]) -> dict[str, str]:
        found = await self._members.of_all([each for each in ids if each not in self._own_ids], _PATIENCE_S)
        return {author_id: member.name for author_id, member in found.items() if member.is_bot}


def is_named(name: str, author_id: str, names: Mapping[str, str]) -> bool:
    """Whether an assistant is meant by what was typed: its name, or its id."""
    return name.lower() in {author_id.lower(), names[author_id].lower()}
