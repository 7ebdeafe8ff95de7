"""Takes watched replies in: a reply that was drawn is left until it is finished, read again, and
becomes a case.
"""

from dataclasses import replace
from datetime import timedelta

import structlog

from bot.domain.blocker import RefusedError
from bot.domain.case import Case, CaseSource, LoggedCase, Visibility, text_hash
from bot.domain.case_key import WatchKey
from bot.domain.small_talk import THANKS, is_small_talk, words_of
from bot.domain.watch import LATE, ReplyOutcome, Watch, age_of
from bot.features.watch.queries import WatchOrders
from bot.features.watch.reply_queries import Replies, SeenReply
from bot.features.watch.watcher import REST, STREAMED_FOR, hash_of
from bot.pipeline.exchange import Exchange
from bot.pipeline.lookup import UNREADABLE
from bot.pipeline.retries import in_brief
from bot.services import Services

MOST_OF_A_QUESTION = 5
"""At most this many replies of an assistant to one question are scored a day; the others become `OVER`."""
_SCORED_AGAIN_FOR = timedelta(minutes=30)
"""Up to this long after the verdict, an addition to a reply has it scored once more; later it is an edit."""
Settled = tuple[SeenReply, ReplyOutcome]
"""A reply, under the first message that it has now, and what became of it."""

logger = structlog.get_logger(__name__)


class Taker:
    """Turns replies that are drawn into cases once they are finished."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._store = services.store
        self._replies = Replies(services.store.database)
        self._limits = services.limits.of_automation("Watches")

    async def take_finished(self) -> None:
        """Takes in drawn replies that are finished, a few of each watch in turn.

        Replies in a channel that cannot be read now are tried again the next time, for a day.
        """
        team_id = self._services.identity.team_id
        now = self._services.clock()
        unread = set[str]()
        watches = await WatchOrders(self._store.database).by_channel(team_id)
        while due := await self._replies.due(team_id, now, unread):
            for reply in due:
                if reply.channel_id in unread:
                    continue
                watch = watches.get(reply.channel_id, {}).get(reply.author_id)
                try:
                    outcome = await self._take(reply, watch)
                except UNREADABLE as exc:
                    error = in_brief(exc) or str(exc)
                    logger.warning("reply_not_read", channel=reply.channel_id, error=error)
                    unread.add(reply.channel_id)
                    continue
                if outcome:
                    await self._replies.settle(*outcome)

    async def _take(self, reply: SeenReply, watch: Watch | None) -> Settled | None:
        """What became of a reply, which becomes a case if it is taken; None if it is not finished
        yet.

        Raises:
            NotReadableError, SlackApiError, ClientError, TimeoutError: The reply cannot be read
            now.
        """
        age = age_of(reply.ts, self._services.clock())
        if not await self._may_score(reply):
            watch = None
        key = watch_key(reply)
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
        whole = await self._from_its_begin(reply, found.reply[0].ts)
        if whole is None:
            return reply, ReplyOutcome.PART
        if not await self._rests(whole, found, age):
            return None
        return whole, await self._take_whole(whole, watch, found)

    async def _may_score(self, reply: SeenReply) -> bool:
        """Whether its channel may be scored, and its author is not another company's."""
        is_allowed = self._services.policy.may_score(reply.channel_id)
        return is_allowed and not await self._services.members.is_known_foreign(reply.author_id)

    async def _from_its_begin(self, reply: SeenReply, first_ts: str) -> SeenReply | None:
        """The reply, which begins with that message now; None if it is part of another one."""
        if first_ts == reply.ts:
            return reply
        # What it said in advance may be deleted; what begins before it is another reply.
        return await self._replies.rename(reply, first_ts) if first_ts > reply.ts else None

    async def _take_whole(self, reply: SeenReply, watch: Watch, found: Exchange) -> ReplyOutcome:
        outcome = await self._why_not(watch, reply, found)
        if outcome:
            return outcome
        case = await self._case(watch, found, reply.probability, watch_key(reply))
        return ReplyOutcome.TAKEN if await self._is_added(case) else ReplyOutcome.OVER

    async def _take_addition(
        self, reply: SeenReply, known: LoggedCase, watch: Watch | None, age: timedelta
    ) -> Settled | None:
        """Has a reply that went on or was edited soon after its verdict scored once more, and marks
        it as edited later.

        It stays taken, because it has a verdict.
        """
        taken = (reply, ReplyOutcome.TAKEN)
        if watch is None or (age > LATE and reply.last_ts is None):
            return taken
        if age <= LATE:
            found = await self._found(reply)
            if found is None or text_hash(found.response) == known.response_hash:
                return taken
            if not await self._rests(reply, found, age):
                return None
            if await self._is_taken_again(reply, known, watch, found):
                return taken
        await self._store.edits.note_added(known)
        return taken

    async def _is_taken_again(
        self, reply: SeenReply, known: LoggedCase, watch: Watch, found: Exchange
    ) -> bool:
        now = self._services.clock()
        is_soon = now - (known.judged_at or now) <= _SCORED_AGAIN_FOR
        if known.attempt > 1 or not is_soon or await self._why_not(watch, reply, found):
            return False
        key = replace(WatchKey.parse(known.key), is_again=True)
        case = await self._case(watch, found, known.probability or watch.share, key)
        return await self._is_added(case.model_copy(update={"attempt": 2}))

    async def _found(self, reply: SeenReply) -> Exchange | None:
        """A reply as it is in Slack, if need be by its newest message; None if it is deleted."""
        found = await self._services.lookup.answered(reply.channel_id, reply.ts, reply.parent_ts)
        if found is None and reply.last_ts:
            found = await self._services.lookup.answered(
                reply.channel_id, reply.last_ts, reply.parent_ts or reply.ts
            )
        return found

    async def _why_not(
        self, watch: Watch, reply: SeenReply, found: Exchange
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

    async def _rests(self, reply: SeenReply, found: Exchange, age: timedelta) -> bool:
        """Whether a reply has not changed for a while; if it has, it is looked at again later.

        Of several messages, Slack says when they were written and edited; of one, the text is
        compared.
        """
        seen = replace(reply, text_hash=hash_of(found))
        is_written = seen.text_hash is not None or age >= STREAMED_FOR
        is_same = seen.text_hash == reply.text_hash
        if reply.last_ts or len(found.reply) > 1:
            changed_ts = max((each.edited_ts or each.ts for each in found.reply), key=float)
            is_same = age >= STREAMED_FOR or age_of(changed_ts, self._services.clock()) >= REST
        if is_written and is_same:
            return True
        await self._replies.wait_on(seen, self._services.clock() + REST)
        return False

    async def _is_over(self, watch: Watch, reply: SeenReply, question_ts: str | None) -> bool:
        """Whether a daily limit is used up; without `question_ts`, the limit for each question is
        not checked.
        """
        if watch.per_day and await self._replies.scored_that_day(watch, reply) >= watch.per_day:
            return True
        if question_ts:
            of_question = await self._replies.scored_of_question(reply, question_ts)
            if of_question >= MOST_OF_A_QUESTION:
                return True
        requester = self._services.identity.user_id
        return bool(await self._store.refusal(watch.team_id, requester, self._limits))

    async def _case(self, watch: Watch, found: Exchange, probability: float, key: WatchKey) -> Case:
        return Case(
            **found.to_found() | found.to_asked(),
            key=str(key),
            team_id=watch.team_id,
            channel_id=watch.channel_id,
            requester_id=self._services.identity.user_id,
            requester_name=self._services.identity.user,
            source=CaseSource.WATCH,
            rubric=await self._services.rubrics.used(watch.team_id, watch.channel_id),
            visibility=Visibility.THREAD,
            probability=probability,
            shows=watch.shows,
            way=watch.ask,
        )


def watch_key(reply: SeenReply) -> WatchKey:
    return WatchKey(reply.channel_id, reply.ts)


def is_thanks(words: str) -> bool:
    """Whether a message only thanks; who says yes may answer what an assistant has asked."""
    return is_small_talk(words) and not THANKS.isdisjoint(words_of(words))


def breaks_off(found: Exchange) -> bool:
    """Whether a reply at rest is not whole: its stream has ended as an error, or has not ended."""
    return any(message.streaming in {"in_progress", "errored"} for message in found.reply)
