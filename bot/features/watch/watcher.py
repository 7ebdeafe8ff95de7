"""Turns watched replies into cases: a reply is seen, drawn, left until it is finished, read again, and taken in.

Watched channels are also read regularly, to find replies written while the app was down or without message events.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from heapq import heapify, heappop, heappush, nlargest
from itertools import count
from typing import Any

import structlog

from bot.domain.blocker import RefusedError
from bot.domain.case import Case, CaseSource, Visibility, text_hash
from bot.domain.label import Reaction
from bot.domain.watch import LATE, MOST_OF_A_QUESTION, ReplyOutcome, SeenReply, Watch, age_of, draws, is_since
from bot.feature import Services
from bot.pipeline.lookup import MayNotReadError, OutOfSightError, Question
from bot.pipeline.retries import in_brief
from bot.slack.client import SLACK_ERRORS, slack_word
from bot.slack.members import AnswerCache
from bot.slack.messages import Message, to_message

Raw = dict[str, Any]

# All other subtypes are Slack's own notices, such as joins.
_REPLIES = {None, "bot_message", "file_share", "thread_broadcast"}
_IN_PROGRESS, _ERRORED = "in_progress", "errored"


def author_of(event: Raw) -> str | None:
    """The id of the bot that wrote an event's message; None for a person's message, a deleted one, or a notice."""
    raw = message_of(event)
    if raw.get("subtype") not in _REPLIES or not raw.get("bot_id"):
        return None
    return str(raw.get("user") or raw["bot_id"])


def to_reply(team_id: str, channel_id: str, raw: Raw) -> SeenReply:
    """The reply in an assistant's message, which comes from an event or from `conversations.*`.

    Source: https://docs.slack.dev/reference/events/message
    """
    message = to_message(raw)
    return SeenReply(team_id, channel_id, message.ts, message.author_id or "", message.parent_ts, _hash_of(message))


def _hash_of(message: Message) -> str | None:
    return None if message.streaming == _IN_PROGRESS else text_hash(message.text)


def message_of(event: Raw) -> Raw:
    return event["message"] if event.get("subtype") == "message_changed" else event


_UNREADABLE = (OutOfSightError, MayNotReadError, *SLACK_ERRORS)

REST = timedelta(seconds=30)
"""A reply that has not changed for this long is finished."""
_STREAMED_FOR = timedelta(hours=1)
_KEPT_S = 30.0
_MOST_TEAMS = 1000
Watched = Mapping[tuple[str, str], Watch]
"""Watches by the ids of channel and assistant."""

logger = structlog.get_logger(__name__)


class Watcher:
    """Notes the replies of watched assistants, and turns those that are drawn into cases once they are finished."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._store = services.store
        self._limits = services.limits.of_automation()
        self._watches = AnswerCache(self._read, _KEPT_S, _MOST_TEAMS)
        self._working = asyncio.Lock()

    async def save(self, watch: Watch, by: str) -> None:
        """Records a watch; other processes follow it within half a minute."""
        await self._store.watches.save(watch, by)
        self._watches.forget(watch.team_id)

    async def end(self, watch: Watch, by: str) -> bool:
        """Ends a watch; returns whether there was one."""
        is_ended = await self._store.watches.end(watch, by)
        self._watches.forget(watch.team_id)
        return is_ended

    async def watches(self, reaction: Reaction) -> bool:
        """Whether a reaction is on a message that a watched assistant wrote after its watch began."""
        watch = (await self._watches.get(reaction.team_id)).get((reaction.channel_id, reaction.author_id or ""))
        return watch is not None and is_since(watch, reaction.ts)

    async def note(self, body: Mapping[str, Any]) -> None:
        """Notes the reply in a message event; ignores events that no watch covers, which are nearly all."""
        event = body["event"]
        author_id = author_of(event)
        watches = await self._watches.get(body["team_id"]) if author_id else {}
        watch = watches.get((event.get("channel", ""), author_id or ""))
        if watch is None or not is_since(watch, message_of(event)["ts"]):
            return
        reply, now = to_reply(watch.team_id, watch.channel_id, message_of(event)), self.services.clock()
        if event.get("subtype") != "message_changed":
            await self._store.replies.note(reply, watch, now + REST)
        elif await self._store.replies.draws(watch, reply.ts):  # changes to other replies do not matter
            await self._store.replies.wait_on(reply, now + REST)

    async def answered(self, channel_id: str, message: Message) -> Question | None:
        """The question that a watched message answers; None if it answers no person, is incomplete, or is our own.

        Raises:
            OutOfSightError, MayNotReadError, SlackApiError, ClientError, TimeoutError: As `Lookup.answered`.
        """
        is_whole = message.blocker is None and message.streaming not in {_IN_PROGRESS, _ERRORED}
        if not is_whole or message.author_id in self.services.identity.own_ids:
            return None
        return await self.services.lookup.answered(channel_id, message)

    async def take_finished(self) -> None:
        """Takes in drawn replies that are finished, a few of each watch in turn.

        Replies in a channel that cannot be read now are tried again the next time, for a day.
        """
        if self._working.locked():
            return
        async with self._working:
            team_id, now, unread = self.services.identity.team_id, self.services.clock(), set[str]()
            watches = await self._read(team_id)
            while due := await self._store.replies.due(team_id, now, unread):
                for reply, probability in due:
                    if reply.channel_id in unread:
                        continue
                    try:
                        outcome = await self._take(reply, probability, watches.get((reply.channel_id, reply.author_id)))
                    except _UNREADABLE as exc:
                        logger.warning(
                            "reply_not_read", channel=reply.channel_id, error=in_brief(exc) or type(exc).__name__
                        )
                        unread.add(reply.channel_id)
                        continue
                    if outcome:
                        await self._store.replies.settle(reply, outcome)

    async def _take(self, reply: SeenReply, probability: float, watch: Watch | None) -> ReplyOutcome | None:
        """The outcome of a reply, which becomes a case if it is taken; None if it is not finished yet.

        Raises:
            OutOfSightError, MayNotReadError, SlackApiError, ClientError, TimeoutError: The reply cannot be read now.
        """
        age = age_of(reply.ts, self.services.clock())
        if watch is None or age > LATE or not self.services.policy.allows_messages_of(reply.channel_id):
            return ReplyOutcome.MISSED
        # Checked before Slack is called, because there may be very many replies.
        if await self._is_over(watch, reply, reply.parent_ts):
            return ReplyOutcome.OVER
        message = await self.services.lookup.message_at(reply.channel_id, reply.ts, reply.parent_ts)
        if message is None:
            return ReplyOutcome.DELETED
        found = replace(reply, text_hash=_hash_of(message))
        if (found.text_hash is None and age < _STREAMED_FOR) or found.text_hash != reply.text_hash:
            await self._store.replies.wait_on(found, self.services.clock() + REST)
            return None
        question = await self.answered(reply.channel_id, message)
        if question is None:
            return ReplyOutcome.NO_ANSWER
        if question.is_edited_after(reply.ts):
            return ReplyOutcome.EDITED
        if question.ts != reply.parent_ts and await self._is_over(watch, reply, question.ts):
            return ReplyOutcome.OVER
        try:
            await self._store.add(await self._case(watch, message, question, probability), limits=self._limits)
        except RefusedError:
            return ReplyOutcome.OVER
        return ReplyOutcome.TAKEN

    async def _is_over(self, watch: Watch, reply: SeenReply, question_ts: str | None) -> bool:
        """Whether a daily limit is used up; without `question_ts`, the limit for each question is not checked."""
        used = await self._store.replies.used(reply, question_ts)
        tokens = (await self._store.digests.channel(watch.team_id, watch.channel_id)).watch_tokens_per_day or 0
        limits = (watch.per_day, used.replies), (MOST_OF_A_QUESTION, used.of_question), (tokens, used.tokens)
        if any(used >= most > 0 for most, used in limits):
            return True
        return bool(await self._store.refusal(watch.team_id, self.services.identity.user_id, self._limits))

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


OFTEN, SELDOM = timedelta(minutes=5), timedelta(hours=1)
"""The time between two looks at a channel: without message events, and with them."""
BACK = timedelta(days=7)
_OVERLAP = timedelta(minutes=1)  # Slack may show a message slightly later than its timestamp
_PAGE = 200
_MOST_PAGES, _MOST_BEHIND = 10, 50
_AT_ONCE = 4


async def look(services: Services) -> None:
    """Notes the replies in watched channels that no event has reported; those already known stay as they are.

    Each look begins where the last successful one ended, at most a week back. Replies in a thread are found only if its
    parent is among the channel's latest messages and at most a week old.
    """
    by_channel = defaultdict[str, dict[str, Watch]](dict)
    for watch in await services.store.watches.of(services.identity.team_id):
        by_channel[watch.channel_id][watch.author_id] = watch
    left = iter(by_channel.items())

    async def some() -> None:
        for channel_id, watched in left:
            await _look_at(services, channel_id, watched)

    # Several channels are read at once, so that a long or slow one does not hold up the others.
    await asyncio.gather(*(some() for _ in range(_AT_ONCE)))


async def _look_at(services: Services, channel_id: str, watched: Mapping[str, Watch]) -> None:
    team_id, watches, now = services.identity.team_id, services.store.watches, services.clock()
    every = SELDOM if services.settings.watch_by == "events" else OFTEN
    read_until = await watches.begin_look(team_id, channel_id, now, every)
    if read_until is None:
        return
    since, noted = max(read_until, now - BACK) - _OVERLAP, 0
    try:
        async for raw in _messages(services, channel_id, since.timestamp()):
            watch = watched.get(author_of(raw) or "")
            if watch and is_since(watch, raw["ts"]):
                noted += await services.store.replies.note(to_reply(team_id, channel_id, raw), watch, now)
    except SLACK_ERRORS as exc:
        logger.warning("channel_not_read", channel=channel_id, error=in_brief(exc))
        await watches.note_not_read(team_id, channel_id, slack_word(exc), now + OFTEN)
        return
    await watches.note_read(team_id, channel_id, now)
    if noted:
        logger.info("replies_found", channel=channel_id, number=noted, since=f"{since:%Y-%m-%d %H:%M}")


async def _messages(services: Services, channel_id: str, since: float) -> AsyncIterator[Raw]:
    """The messages since `since` (epoch s), in the channel and in threads begun at most a week ago."""
    client, first = services.client, (services.clock() - BACK).timestamp()
    async for parent in _pages(client.conversations_history, since, channel=channel_id, oldest=f"{first:.6f}"):
        if float(parent["ts"]) > since:
            yield parent
        if float(parent.get("latest_reply") or 0) > since:
            thread = {"channel": channel_id, "ts": parent["ts"], "oldest": f"{since:.6f}"}
            async for raw in _pages(client.conversations_replies, since, **thread):
                if raw["ts"] != parent["ts"]:
                    yield raw


async def _pages(method: Any, since: float, **arguments: Any) -> AsyncIterator[Raw]:
    """The messages of at most ten pages, or of at most 50 if it takes more to reach back to `since` (epoch s)."""
    pages = 0
    async for page in await method(limit=_PAGE, **arguments):
        messages = page.get("messages") or []
        for raw in messages:
            yield raw
        pages += 1
        is_back = not messages or float(messages[-1]["ts"]) <= since
        if pages == _MOST_BEHIND or (pages >= _MOST_PAGES and is_back):
            logger.warning("channel_not_read_to_its_end", channel=arguments["channel"], messages=pages * _PAGE)
            return


MOST = 5
EXAMPLE = b"what a share looks like"  # not the key of the real draw, which would reveal which replies are scored
_PATIENCE_S = 10.0
_MOST_TRIED = 20  # each calls Slack, which allows about 50 such calls a minute for the whole app
_MOST_THREADS = 20
_RECENT_PAGE, _THREAD_PAGE = 200, 999


async def recent_replies(watcher: Watcher, watch: Watch) -> list[Message]:
    """Up to five replies of the last week that such a watch might have taken, newest first; fewer if Slack is slow.

    Raises:
        OutOfSightError, MayNotReadError, SlackApiError, ClientError: Slack does not let us read the channel.
    """
    found: list[Message] = []
    seen = set[str]()  # a reply that was also sent to the channel appears both there and in its thread
    tries = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE_S):
            async for raw in _newest_first(watcher.services, watch):
                if author_of(raw) != watch.author_id or raw["ts"] in seen or not draws(watch, raw["ts"], EXAMPLE):
                    continue
                seen.add(raw["ts"])
                tries += 1
                message = to_message(raw)
                if await watcher.answered(watch.channel_id, message):
                    found.append(message)
                if len(found) == MOST or tries == _MOST_TRIED:
                    break
    return found


async def _newest_first(services: Services, watch: Watch) -> AsyncIterator[Raw]:
    """The last week's messages in the channel and its threads; a thread is read when its last reply is next."""
    client, first = services.client, (services.clock() - BACK).timestamp()
    since: Raw = {"channel": watch.channel_id, "oldest": f"{first:.6f}"}
    parents = (await client.conversations_history(limit=_RECENT_PAGE, **since)).get("messages") or []
    threads = nlargest(
        _MOST_THREADS, (raw for raw in parents if _may_have_reply_of(watch.author_id, raw)), key=_last_reply
    )
    number = count()
    waiting = [(-float(raw["ts"]), next(number), raw, False) for raw in parents]
    waiting += [(-_last_reply(raw), next(number), raw, True) for raw in threads]
    heapify(waiting)
    while waiting:
        _, _, raw, is_thread = heappop(waiting)
        if not is_thread:
            yield raw
            continue
        thread = await client.conversations_replies(ts=raw["ts"], limit=_THREAD_PAGE, **since)
        for reply in thread.get("messages") or []:
            if reply["ts"] != raw["ts"]:
                heappush(waiting, (-float(reply["ts"]), next(number), reply, False))


def _last_reply(raw: Raw) -> float:
    return float(raw.get("latest_reply") or 0)


def _may_have_reply_of(author_id: str, parent: Raw) -> bool:
    """Whether the assistant may have written in the thread; Slack names at most five of those who did."""
    users = parent.get("reply_users") or []
    is_thread = bool(parent.get("latest_reply"))
    return is_thread and (author_id in users or parent.get("reply_users_count", -1) != len(users))
