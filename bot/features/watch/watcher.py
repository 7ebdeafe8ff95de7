"""Sees the replies of watched assistants, and notes each with its draw."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from bot.domain.case import text_hash
from bot.domain.label import Reaction
from bot.domain.shared import AnswerCache
from bot.domain.watch import Watch, age_of
from bot.features.watch.queries import WatchOrders, is_order
from bot.features.watch.reply_queries import Replies, SeenReply
from bot.features.watch.way import Ways
from bot.pipeline import exchange
from bot.services import Services
from bot.slack.invocation import Raw
from bot.slack.messages import Message, to_message
from bot.store.watches import EVERYWHERE


def author_of(event: Raw) -> str | None:
    """The id of the bot that wrote an event's message; None for a person's message, a deleted one,
    or a notice.
    """
    raw = message_of(event)
    if raw.get("subtype") not in exchange.SAID or not raw.get("bot_id"):
        return None
    return str(raw.get("user") or raw["bot_id"])


def to_reply(team_id: str, channel_id: str, raw: Raw) -> SeenReply:
    """The reply in an assistant's message, which comes from an event or from `conversations.*`.

    Source: https://docs.slack.dev/reference/events/message
    """
    message = to_message(raw)
    author_id = message.author_id or ""
    its_hash = hash_of(exchange.Exchange((message,)))
    return SeenReply(team_id, channel_id, message.ts, author_id, message.parent_ts, its_hash)


def hash_of(found: exchange.Exchange) -> str | None:
    is_written = not any(message.is_unfinished for message in found.reply)
    return text_hash(found.response) if is_written else None


def message_of(event: Raw) -> Raw:
    return event["message"] if event.get("subtype") == "message_changed" else event


REST = timedelta(seconds=30)
"""A reply that has not changed for this long is finished."""
STREAMED_FOR = timedelta(hours=1)


def is_since(watch: Watch, ts: str) -> bool:
    """Whether the message with this timestamp was written since the watch began; earlier ones are
    ignored.
    """
    return float(ts) >= watch.since.timestamp()


class Watcher:
    """Notes the replies of watched assistants."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.orders = WatchOrders(services.store.database)
        self.replies = Replies(services.store.database)
        self.ways = Ways(services)
        self._watches = AnswerCache(self.orders.by_channel, kept_s=30.0, most=1000)
        # One message at a time, in their order: the second message of a reply looks for the first.
        self._seeing = asyncio.Lock()

    async def save(self, watch: Watch, by: str) -> None:
        """Records a watch; other processes follow it within half a minute."""
        await self.orders.save(watch, by)
        self._watches.forget(watch.team_id)

    async def derive(self, followed: Sequence[Watch], ended: Sequence[Watch]) -> None:
        """Records the watches that follow from orders, and ends those that do not any more."""
        if followed or ended:
            await self.orders.derive(followed, ended)
            self._watches.forget(self.services.identity.team_id)

    async def end(self, watch: Watch, by: str) -> bool:
        """Whether there was a watch to end; an order for all public channels goes on in the others."""
        order = None
        if not is_order(watch):
            order = await self.orders.find(watch.team_id, EVERYWHERE, watch.author_id)
        if order:
            is_ended = await self.orders.leave_out(order, watch.channel_id, by)
        else:
            is_ended = await self.orders.end(watch, by)
        self._watches.forget(watch.team_id)
        return is_ended

    async def watches(self, reaction: Reaction) -> bool:
        """Whether a reaction is on a message that a watched assistant wrote after its watch began."""
        watch = (
            (await self._watches.get(reaction.team_id))
            .get(reaction.channel_id, {})
            .get(reaction.author_id or "")
        )
        return watch is not None and is_since(watch, reaction.ts)

    async def note(self, body: Mapping[str, Any]) -> None:
        """Notes the reply in a message event; ignores events that no watch covers, which are nearly
        all.
        """
        event = body["event"]
        async with (
            self._seeing
        ):  # before the watches are read, where a later message could overtake an earlier one
            here = (await self._watches.get(body["team_id"])).get(event.get("channel", ""))
            if here:
                is_change = event.get("subtype") == "message_changed"
                await self._see(here, message_of(event), REST, is_change=is_change)

    async def see(self, watches: Mapping[str, Watch], raw: Raw, rest: timedelta) -> int:
        """Notes a message of a channel with these watches, by assistant; returns the number of new
        replies, 1 or 0.

        In a thread, it goes on with its author's reply, or ends the replies of others.
        """
        async with self._seeing:
            return await self._see(watches, raw, rest)

    async def _see(
        self,
        watches: Mapping[str, Watch],
        raw: Raw,
        rest: timedelta,
        *,
        is_change: bool = False,
    ) -> int:
        here = next(iter(watches.values()))
        for feature in self.services.features:
            if feature.on_read:
                await feature.on_read(here.team_id, here.channel_id, watches.keys(), raw)
        if not is_change and raw.get("thread_ts") not in {None, raw["ts"]}:
            await self._end_others(here, to_message(raw))
        watch = watches.get(author_of(raw) or "")
        if watch is None or not is_since(watch, raw["ts"]):
            return 0
        reply = to_reply(watch.team_id, watch.channel_id, raw)
        rests_at = self.services.clock() + rest
        return await self._note_reply(watch, reply, rests_at, is_change=is_change)

    async def _note_reply(
        self, watch: Watch, reply: SeenReply, rests_at: datetime, *, is_change: bool
    ) -> int:
        first = await self.replies.part_of(reply)
        if not is_change and (first is None or first.ts == reply.ts):
            return await self.replies.note(reply, watch, rests_at)
        if first:
            await self._note_more(first, reply, rests_at, is_change=is_change)
        return 0

    async def _end_others(self, here: Watch, message: Message) -> None:
        """Ends the replies of others in the thread of a message."""
        if exchange.is_anybodys(message, self.services.identity.own_ids):
            place = here.team_id, here.channel_id, message.thread_ts
            await self.replies.end_before(*place, message.author_id, message.ts)

    async def _note_more(
        self, first: SeenReply, message: SeenReply, rests_at: datetime, *, is_change: bool
    ) -> None:
        """Lets a reply rest again that went on or was changed, such as words in advance that become
        the answer.

        Changes to a reply that is not drawn, or is older than an hour, do not matter.
        """
        is_young = age_of(first.ts, self.services.clock()) < STREAMED_FOR
        if not is_change:
            await self.replies.go_on(first, message.ts, rests_at if is_young else None)
        elif is_young:
            text_hash = message.text_hash if first.ts == message.ts else first.text_hash
            changed = replace(first, text_hash=text_hash)
            await self.replies.wait_on(changed, rests_at, is_edited=True)
