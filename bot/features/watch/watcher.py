"""Turns watched replies into cases: a reply is seen, drawn, left until it is finished, read again,
and taken in.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import structlog

from bot.domain.blocker import RefusedError
from bot.domain.case import Case, CaseSource, LoggedCase, Visibility, text_hash
from bot.domain.case_key import WatchKey
from bot.domain.label import Reaction
from bot.domain.shared import AnswerCache
from bot.domain.small_talk import is_thanks
from bot.domain.watch import LATE, ReplyOutcome, Watch, age_of
from bot.features.watch.queries import WatchOrders
from bot.features.watch.reply_queries import Replies, SeenReply
from bot.figures.quality import grouped
from bot.pipeline import exchange
from bot.pipeline.lookup import UNREADABLE
from bot.pipeline.retries import in_brief
from bot.services import Services
from bot.slack.invocation import Raw
from bot.slack.messages import to_message
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
    its_hash = _hash_of(exchange.Exchange((message,)))
    return SeenReply(team_id, channel_id, message.ts, author_id, message.parent_ts, its_hash)


def _hash_of(found: exchange.Exchange) -> str | None:
    is_written = not any(message.is_unfinished for message in found.reply)
    return text_hash(found.response) if is_written else None


def breaks_off(found: exchange.Exchange) -> bool:
    """Whether a reply at rest is not whole: its stream has ended as an error, or has not ended."""
    return any(message.streaming in {"in_progress", "errored"} for message in found.reply)


def message_of(event: Raw) -> Raw:
    return event["message"] if event.get("subtype") == "message_changed" else event


MOST_OF_A_QUESTION = 5
"""At most this many replies of an assistant to one question are scored a day; the others become `OVER`."""
REST = timedelta(seconds=30)
"""A reply that has not changed for this long is finished."""
_STREAMED_FOR = timedelta(hours=1)
_SCORED_AGAIN_FOR = timedelta(minutes=30)
"""Up to this long after the verdict, an addition to a reply has it scored once more; later it is an edit."""
Settled = tuple[SeenReply, ReplyOutcome]
"""A reply, under the first message that it has now, and what became of it."""

logger = structlog.get_logger(__name__)


def is_since(watch: Watch, ts: str) -> bool:
    """Whether the message with this timestamp was written since the watch began; earlier ones are
    ignored.
    """
    return float(ts) >= watch.since.timestamp()


class Watcher:
    """Notes the replies of watched assistants, and turns those that are drawn into cases once they
    are finished.
    """

    def __init__(self, services: Services) -> None:
        self.services = services
        self.orders = WatchOrders(services.store.database)
        self._store = services.store
        self.replies = Replies(services.store.database)
        self._limits = services.limits.of_automation("Watches")
        self._watches = AnswerCache(self.by_channel, kept_s=30.0, most=1000)
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
        if not watch.is_everywhere:
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
        await self.services.note_read(here.team_id, here.channel_id, watches.keys(), raw)
        if not is_change and raw.get("thread_ts") not in {None, raw["ts"]}:
            message = to_message(raw)
            if exchange.is_anybodys(message, self.services.identity.own_ids):
                place = here.team_id, here.channel_id, message.thread_ts
                await self.replies.end_before(*place, message.author_id, message.ts)
        watch = watches.get(author_of(raw) or "")
        if watch is None or not is_since(watch, raw["ts"]):
            return 0
        reply = to_reply(watch.team_id, watch.channel_id, raw)
        first = await self.replies.part_of(reply)
        rests_at = self.services.clock() + rest
        if not is_change and (first is None or first.ts == reply.ts):
            return await self.replies.note(reply, watch, rests_at)
        if first:
            await self._note_more(first, reply, rests_at, is_change=is_change)
        return 0

    async def _note_more(
        self, first: SeenReply, message: SeenReply, rests_at: datetime, *, is_change: bool
    ) -> None:
        """Lets a reply rest again that went on or was changed, such as words in advance that become
        the answer.

        Changes to a reply that is not drawn, or is older than an hour, do not matter.
        """
        is_young = age_of(first.ts, self.services.clock()) < _STREAMED_FOR
        if not is_change:
            await self.replies.go_on(first, message.ts, rests_at if is_young else None)
        elif is_young:
            text_hash = message.text_hash if first.ts == message.ts else first.text_hash
            changed = replace(first, text_hash=text_hash)
            await self.replies.wait_on(changed, rests_at, is_edited=True)

    async def take_finished(self) -> None:
        """Takes in drawn replies that are finished, a few of each watch in turn.

        Replies in a channel that cannot be read now are tried again the next time, for a day.
        """
        team_id = self.services.identity.team_id
        now = self.services.clock()
        unread = set[str]()
        watches = await self.by_channel(team_id)
        while due := await self.replies.due(team_id, now, unread):
            for reply in due:
                if reply.channel_id in unread:
                    continue
                try:
                    outcome = await self._take(
                        reply, watches.get(reply.channel_id, {}).get(reply.author_id)
                    )
                except UNREADABLE as exc:
                    error = in_brief(exc) or str(exc)
                    logger.warning("reply_not_read", channel=reply.channel_id, error=error)
                    unread.add(reply.channel_id)
                    continue
                if outcome:
                    await self.replies.settle(*outcome)

    async def _take(self, reply: SeenReply, watch: Watch | None) -> Settled | None:
        """What became of a reply, which becomes a case if it is taken; None if it is not finished
        yet.

        Raises:
            NotReadableError, SlackApiError, ClientError, TimeoutError: The reply cannot be read
            now.
        """
        key = WatchKey(reply.channel_id, reply.ts)
        age = age_of(reply.ts, self.services.clock())
        is_anothers = await self.services.members.is_known_foreign(reply.author_id)
        if is_anothers or not self.services.policy.may_score(reply.channel_id):
            watch = None
        again = replace(key, is_again=True)
        if known := await self._store.cases.keyed(reply.team_id, str(key), str(again)):
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
            renamed = await self.replies.rename(reply, first_ts) if first_ts > reply.ts else None
            if renamed is None:
                return reply, ReplyOutcome.PART
            reply = renamed
            key = replace(key, ts=first_ts)
        if not await self._rests(reply, found, age):
            return None
        outcome = await self._why_not(watch, reply, found)
        if outcome is None:
            is_added = await self._is_added(await self._case(watch, found, reply.probability, key))
            outcome = ReplyOutcome.TAKEN if is_added else ReplyOutcome.OVER
        return reply, outcome

    async def _take_addition(
        self, reply: SeenReply, known: LoggedCase, watch: Watch | None, age: timedelta
    ) -> Settled | None:
        """Has a reply that went on or was edited soon after its verdict scored once more, and marks
        it as edited later.

        It stays taken, because it has a verdict.
        """
        taken = (reply, ReplyOutcome.TAKEN)
        now = self.services.clock()
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
                key = replace(WatchKey.parse(known.key), is_again=True)
                probability = known.probability or watch.share
                again = await self._case(watch, found, probability, key)
                if await self._is_added(again.model_copy(update={"attempt": 2})):
                    return taken
        await self._store.edits.note_added(known)
        return taken

    async def _found(self, reply: SeenReply) -> exchange.Exchange | None:
        """A reply as it is in Slack, if need be by its newest message; None if it is deleted."""
        found = await self.services.lookup.answered(reply.channel_id, reply.ts, reply.parent_ts)
        if found is None and reply.last_ts:
            found = await self.services.lookup.answered(
                reply.channel_id, reply.last_ts, reply.parent_ts or reply.ts
            )
        return found

    async def _why_not(
        self, watch: Watch, reply: SeenReply, found: exchange.Exchange
    ) -> ReplyOutcome | None:
        """What becomes of a reply that is not to be scored; None if it is."""
        question = found.question
        is_whole = not breaks_off(found)
        if question is None or (is_whole and not found.response):
            return ReplyOutcome.NO_ANSWER
        if is_thanks(question.text):
            return ReplyOutcome.NO_ANSWER
        if not is_whole:
            return ReplyOutcome.BROKE_OFF
        if question.is_edited_after(reply.ts):
            return ReplyOutcome.EDITED
        if await self._is_over(watch, reply, question.messages[-1].ts):
            return ReplyOutcome.OVER
        return None

    async def _is_added(self, case: Case) -> bool:
        try:
            await self._store.add(case, limits=self._limits)
        except RefusedError:
            return False
        return True

    async def _rests(self, reply: SeenReply, found: exchange.Exchange, age: timedelta) -> bool:
        """Whether a reply has not changed for a while; if it has, it is looked at again later.

        Of several messages, Slack says when they were written and edited; of one, the text is
        compared.
        """
        seen = replace(reply, text_hash=_hash_of(found))
        is_written = seen.text_hash is not None or age >= _STREAMED_FOR
        is_same = seen.text_hash == reply.text_hash
        if reply.last_ts or len(found.reply) > 1:
            changed_ts = max((each.edited_ts or each.ts for each in found.reply), key=float)
            is_same = age >= _STREAMED_FOR or age_of(changed_ts, self.services.clock()) >= REST
        if is_written and is_same:
            return True
        await self.replies.wait_on(seen, self.services.clock() + REST)
        return False

    async def _is_over(self, watch: Watch, reply: SeenReply, question_ts: str | None) -> bool:
        """Whether a daily limit is used up; without `question_ts`, the limit for each question is
        not checked.
        """
        on_day, of_question = await self.replies.used(watch, reply, question_ts)
        if on_day >= watch.per_day > 0 or of_question >= MOST_OF_A_QUESTION:
            return True
        return bool(
            await self._store.refusal(watch.team_id, self.services.identity.user_id, self._limits)
        )

    async def _case(
        self, watch: Watch, found: exchange.Exchange, probability: float, key: WatchKey
    ) -> Case:
        return Case(
            **found.to_found() | found.to_asked(),
            key=str(key),
            team_id=watch.team_id,
            channel_id=watch.channel_id,
            requester_id=self.services.identity.user_id,
            requester_name=self.services.identity.user,
            source=CaseSource.WATCH,
            rubric=await self.services.rubrics.used(watch.team_id, watch.channel_id),
            visibility=Visibility.THREAD,
            probability=probability,
            shows=watch.shows,
            way=watch.ask,
        )

    async def by_channel(self, team_id: str) -> Mapping[str, Mapping[str, Watch]]:
        """The watches of a workspace by the ids of channel and assistant."""
        by_channel = grouped((watch.channel_id, watch) for watch in await self.orders.of(team_id))
        return {
            channel_id: {watch.author_id: watch for watch in its}
            for channel_id, its in by_channel.items()
        }
