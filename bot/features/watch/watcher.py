"""Turns watched replies into cases: a reply is seen, drawn, left until it is finished, read again, and taken in.

Watched channels are also read regularly, to find replies written while the app was down or without message events.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from heapq import heapify, heappop, heappush, nlargest
from itertools import count
from typing import Any

import structlog

from bot.domain.blocker import RefusedError
from bot.domain.case import Case, CaseSource, LoggedCase, Visibility, text_hash
from bot.domain.label import Reaction
from bot.domain.watch import AGAIN, LATE, MOST_OF_A_QUESTION, ReplyOutcome, SeenReply, Watch, age_of, draws, is_since
from bot.feature import Services
from bot.pipeline import exchange
from bot.pipeline.lookup import UNREADABLE
from bot.pipeline.retries import in_brief
from bot.slack.client import SLACK_ERRORS, slack_word
from bot.slack.members import AnswerCache
from bot.slack.messages import Message, to_message

Raw = dict[str, Any]

_IN_PROGRESS, _ERRORED = "in_progress", "errored"


def author_of(event: Raw) -> str | None:
    """The id of the bot that wrote an event's message; None for a person's message, a deleted one, or a notice."""
    raw = message_of(event)
    if raw.get("subtype") not in exchange.SAID or not raw.get("bot_id"):
        return None
    return str(raw.get("user") or raw["bot_id"])


def to_reply(team_id: str, channel_id: str, raw: Raw) -> SeenReply:
    """The reply in an assistant's message, which comes from an event or from `conversations.*`.

    Source: https://docs.slack.dev/reference/events/message
    """
    message = to_message(raw)
    return SeenReply(
        team_id,
        channel_id,
        message.ts,
        message.author_id or "",
        message.parent_ts,
        _hash_of(exchange.Exchange((message,))),
    )


def _hash_of(found: exchange.Exchange) -> str | None:
    is_written = not any(message.is_unfinished for message in found.reply)
    return text_hash(found.response) if is_written else None


def is_answer(found: exchange.Exchange, own_ids: Collection[str]) -> bool:
    """Whether a reply has words, is whole, and answers a person."""
    is_whole = not any(message.streaming in {_IN_PROGRESS, _ERRORED} for message in found.reply)
    return bool(found.question and found.response and is_whole) and found.reply[0].author_id not in own_ids


def message_of(event: Raw) -> Raw:
    return event["message"] if event.get("subtype") == "message_changed" else event


REST = timedelta(seconds=30)
"""A reply that has not changed for this long is finished."""
_STREAMED_FOR = timedelta(hours=1)
_SCORED_AGAIN_FOR = timedelta(minutes=30)
"""Up to this long after the verdict, an addition to a reply has it scored once more; later it is an edit."""
_KEPT_S = 30.0
_MOST_TEAMS = 1000
Settled = tuple[SeenReply, ReplyOutcome]
"""A reply, under the first message that it has now, and what became of it."""
Watched = Mapping[tuple[str, str], Watch]
"""Watches by the ids of channel and assistant."""

logger = structlog.get_logger(__name__)


class Watcher:
    """Notes the replies of watched assistants, and turns those that are drawn into cases once they are finished."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._store = services.store
        self._limits = services.limits.of_automation("Watches")
        self._watches = AnswerCache(self._read, _KEPT_S, _MOST_TEAMS)
        self._working = asyncio.Lock()
        # One message at a time, in their order: the second message of a reply looks for the first.
        self._seeing = asyncio.Lock()

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
        async with self._seeing:  # before the watches are read, where a later message could overtake an earlier one
            watches = await self._watches.get(body["team_id"])
            channel_id, raw = event.get("channel", ""), message_of(event)
            here = {author_id: watch for (watched, author_id), watch in watches.items() if watched == channel_id}
            if here and event.get("subtype") == "message_changed":
                await self._note_change(here, raw)
            elif here:
                await self._see(here, raw, REST)

    async def see(self, watches: Mapping[str, Watch], raw: Raw, rest: timedelta) -> int:
        """Notes a message of a channel with these watches, by assistant; returns the number of new replies, 1 or 0.

        In a thread, it goes on with its author's reply, or ends the replies of others.
        """
        async with self._seeing:
            return await self._see(watches, raw, rest)

    async def _see(self, watches: Mapping[str, Watch], raw: Raw, rest: timedelta) -> int:
        watch = watches.get(author_of(raw) or "")
        replies, now = self._store.replies, self.services.clock()
        if watch is None or not is_since(watch, raw["ts"]):
            await self._end_others(next(iter(watches.values())), raw)
            return 0
        reply = to_reply(watch.team_id, watch.channel_id, raw)
        await self._end_others(watch, raw)
        first = await replies.part_of(reply)
        if first is None or first.ts == reply.ts:
            return await replies.note(reply, watch, now + rest)
        rests_at = now + rest if age_of(first.ts, now) < _STREAMED_FOR else None
        await replies.go_on(first, reply.ts, rests_at)
        return 0

    async def _end_others(self, watch: Watch, raw: Raw) -> None:
        if raw.get("thread_ts") in {None, raw["ts"]}:
            return
        message = to_message(raw)
        if exchange.is_anybodys(message, self.services.identity.own_ids):
            place = watch.team_id, watch.channel_id, message.thread_ts
            await self._store.replies.end_before(*place, message.author_id, message.ts)

    async def _note_change(self, watches: Mapping[str, Watch], raw: Raw) -> None:
        """Lets a reply rest again that was changed, such as words in advance that become the answer.

        Changes to a reply that is not drawn, or is older than an hour, do not matter.
        """
        watch = watches.get(author_of(raw) or "")
        if watch is None or not is_since(watch, raw["ts"]):
            return
        changed = to_reply(watch.team_id, watch.channel_id, raw)
        first = await self._store.replies.part_of(changed)
        now = self.services.clock()
        if first and age_of(first.ts, now) < _STREAMED_FOR:
            text_hash = changed.text_hash if first.ts == changed.ts else first.text_hash
            await self._store.replies.wait_on(replace(first, text_hash=text_hash), now + REST, is_edited=True)

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
                    except UNREADABLE as exc:
                        logger.warning(
                            "reply_not_read", channel=reply.channel_id, error=in_brief(exc) or type(exc).__name__
                        )
                        unread.add(reply.channel_id)
                        continue
                    if outcome:
                        await self._store.replies.settle(*outcome)

    async def _take(self, reply: SeenReply, probability: float, watch: Watch | None) -> Settled | None:
        """What became of a reply, which becomes a case if it is taken; None if it is not finished yet.

        Raises:
            OutOfSightError, MayNotReadError, SlackApiError, ClientError, TimeoutError: The reply cannot be read now.
        """
        key, age = f"watch:{reply.channel_id}:{reply.ts}", age_of(reply.ts, self.services.clock())
        if not self.services.policy.may_score(reply.channel_id):
            watch = None
        if known := await self._store.cases.keyed(reply.team_id, key, f"{key}{AGAIN}"):
            return await self._take_addition(reply, known, watch, age)
        if watch is None or age > LATE:
            return reply, ReplyOutcome.MISSED
        # Checked before Slack is called, because there may be very many replies.
        if await self._is_over(watch, reply, None):
            return reply, ReplyOutcome.OVER
        found = await self._found(reply)
        if found is None:
            return reply, ReplyOutcome.DELETED
        first_ts = found.reply[0].ts
        if first_ts != reply.ts:
            # What it said in advance may be deleted; what begins before it is another reply.
            renamed = await self._store.replies.rename(reply, first_ts) if first_ts > reply.ts else None
            if renamed is None:
                return reply, ReplyOutcome.PART
            reply, key = renamed, f"watch:{reply.channel_id}:{first_ts}"
        if not await self._rests(reply, found, age):
            return None
        outcome = await self._why_not(watch, reply, found)
        if outcome is None:
            is_added = await self._is_added(await self._case(watch, found, probability, key))
            outcome = ReplyOutcome.TAKEN if is_added else ReplyOutcome.OVER
        return reply, outcome

    async def _take_addition(
        self, reply: SeenReply, known: LoggedCase, watch: Watch | None, age: timedelta
    ) -> Settled | None:
        """Has a reply that went on or was edited soon after its verdict scored once more, and marks it as edited later.

        It stays taken, because it has a verdict.
        """
        taken, now = (reply, ReplyOutcome.TAKEN), self.services.clock()
        if watch is None or (age > LATE and reply.last_ts is None):
            return taken
        if age <= LATE:
            found = await self._found(reply)
            if found is None or text_hash(found.response) == known.response_hash:
                return taken
            if not await self._rests(reply, found, age):
                return None
            is_soon = known.attempt == 1 and now - (known.judged_at or now) <= _SCORED_AGAIN_FOR
            if is_soon and not await self._why_not(watch, reply, found):
                again = await self._case(watch, found, known.probability or watch.share, f"{known.key}{AGAIN}")
                if await self._is_added(again.model_copy(update={"attempt": 2})):
                    return taken
        await self._store.edits.note_added(known)
        return taken

    async def _found(self, reply: SeenReply) -> exchange.Exchange | None:
        """A reply as it is in Slack, if need be by its newest message; None if it is deleted."""
        found = await self.services.lookup.answered(reply.channel_id, reply.ts, reply.parent_ts)
        if found is None and reply.last_ts:
            found = await self.services.lookup.answered(reply.channel_id, reply.last_ts, reply.parent_ts or reply.ts)
        return found

    async def _why_not(self, watch: Watch, reply: SeenReply, found: exchange.Exchange) -> ReplyOutcome | None:
        """What becomes of a reply that is not to be scored; None if it is."""
        question = found.question if is_answer(found, self.services.identity.own_ids) else None
        if question is None:
            return ReplyOutcome.NO_ANSWER
        if question.is_edited_after(reply.ts):
            return ReplyOutcome.EDITED
        return ReplyOutcome.OVER if await self._is_over(watch, reply, question.ts) else None

    async def _is_added(self, case: Case) -> bool:
        try:
            await self._store.add(case, limits=self._limits)
        except RefusedError:
            return False
        return True

    async def _rests(self, reply: SeenReply, found: exchange.Exchange, age: timedelta) -> bool:
        """Whether a reply has not changed for a while; if it has, it is looked at again later.

        Of several messages, Slack says when they were written and edited; of one, the text is compared.
        """
        seen = replace(reply, text_hash=_hash_of(found))
        is_written = seen.text_hash is not None or age >= _STREAMED_FOR
        is_same = seen.text_hash == reply.text_hash
        if reply.last_ts or len(found.reply) > 1:
            changed_ts = max((each.edited_ts or each.ts for each in found.reply), key=float)
            is_same = age >= _STREAMED_FOR or age_of(changed_ts, self.services.clock()) >= REST
        if is_written and is_same:
            return True
        await self._store.replies.wait_on(seen, self.services.clock() + REST)
        return False

    async def _is_over(self, watch: Watch, reply: SeenReply, question_ts: str | None) -> bool:
        """Whether a daily limit is used up; without `question_ts`, the limit for each question is not checked."""
        used = await self._store.replies.used(reply, question_ts)
        if used.replies >= watch.per_day > 0 or used.of_question >= MOST_OF_A_QUESTION:
            return True
        return bool(await self._store.refusal(watch.team_id, self.services.identity.user_id, self._limits))

    async def _case(self, watch: Watch, found: exchange.Exchange, probability: float, key: str) -> Case:
        return Case(
            **found.to_found() | found.to_asked(),
            key=key,
            team_id=watch.team_id,
            channel_id=watch.channel_id,
            requester_id=self.services.identity.user_id,
            requester_name=self.services.identity.user,
            source=CaseSource.WATCH,
            rubric=await self.services.rubrics.used(watch.team_id, watch.channel_id),
            visibility=Visibility.THREAD,
            probability=probability,
            shows=watch.shows,
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


async def look(watcher: Watcher) -> None:
    """Notes the replies in watched channels that no event has reported; those already known stay as they are.

    Each look begins where the last successful one ended, at most a week back. Replies in a thread are found only if its
    parent is among the channel's latest messages and at most a week old.
    """
    services = watcher.services
    by_channel = defaultdict[str, dict[str, Watch]](dict)
    for watch in await services.store.watches.of(services.identity.team_id):
        by_channel[watch.channel_id][watch.author_id] = watch
    left = iter(by_channel.items())

    async def some() -> None:
        for channel_id, watched in left:
            await _look_at(watcher, channel_id, watched)

    # Several channels are read at once, so that a long or slow one does not hold up the others.
    await asyncio.gather(*(some() for _ in range(_AT_ONCE)))


async def _look_at(watcher: Watcher, channel_id: str, watched: Mapping[str, Watch]) -> None:
    services = watcher.services
    team_id, watches, now = services.identity.team_id, services.store.watches, services.clock()
    every = SELDOM if services.settings.watch_by == "events" else OFTEN
    read_until = await watches.begin_look(team_id, channel_id, now, every)
    if read_until is None:
        return
    since, noted = max(read_until, now - BACK) - _OVERLAP, 0
    try:
        async for raw in _messages(services, channel_id, since.timestamp()):
            noted += await watcher.see(watched, raw, timedelta())
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
                reply = await watcher.services.lookup.answered(watch.channel_id, message.ts, message.parent_ts)
                if reply and reply.reply[0].ts == message.ts and is_answer(reply, watcher.services.identity.own_ids):
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
