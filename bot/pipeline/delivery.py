"""The app's messages about a case: each is posted at most once, in the thread if possible, or else
to the requester.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.case import LoggedCase, requester_of
from bot.domain.clock import clock_s
from bot.domain.fair_queue import FairQueue
from bot.domain.verdict import CaseVerdict
from bot.domain.watch import Shows
from bot.pipeline import text as words
from bot.pipeline import verdict_text as verdicts
from bot.pipeline.retries import in_brief
from bot.slack import ids
from bot.slack.blocks import ModalState
from bot.slack.client import SLACK_ERRORS, RefusedCallError, or_refusal, refusal_of, slack_word
from bot.slack.messages import find_marked, to_metadata
from bot.slack.messenger import WITHOUT_PREVIEWS, Messenger, Post, send_in_known_blocks
from bot.store import Store

_CLOCK_SKEW_S = 60
# Far below the time after which the queue gives the jobs of a silent process to another.
_FRESH_S = 5.0

PostPart = Literal["thread", "reply"]
"""A message about a case that everybody sees: the one with two typed texts, or the verdict."""

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Delivery:
    """Posts and updates the messages about a case, and opens its modals.

    The client must not repeat a post after a lost connection, because Slack may have accepted the
    first one.
    """

    client: AsyncWebClient
    messenger: Messenger
    store: Store
    workspace_url: str
    lines: Mapping[str, FairQueue] = field(
        default_factory=lambda: defaultdict(lambda: FairQueue(1))
    )

    async def announce(self, case: LoggedCase) -> LoggedCase:
        """Posts a placeholder in the case's thread, and returns the updated case."""
        case, _ = await self._post_once(case, "thread", words.texts(case))
        case, _ = await self._post_once(case, "reply", words.PLACEHOLDER)
        return case

    async def deliver(self, case: LoggedCase, verdict: CaseVerdict) -> LoggedCase:
        """Delivers the verdict to the thread, replacing the placeholder if there is one, or to the
        requester alone.

        The message with typed texts shows the score, too, and verdicts that this one replaces are
        folded. For a watched reply, the channel sees what it has chosen, and nothing if there is no
        score. Returns the updated case.
        """
        case = await self._still_held(case)
        if case.is_watched and (verdict.score is None or not case.is_posted):
            if case.shows is Shows.REACTION and verdict.score is not None:
                await self._react(case, verdict.score)
            return case
        if not (case.is_private or case.blocked_by):
            case = await self._to_thread(case, verdict)
        if (case.is_private or case.blocked_by) and not case.is_watched:
            post = verdicts.verdict_message(case, verdict, verdicts.why_private(case))
            await self.messenger.tell(requester_of(case), post)
        return case

    async def _to_thread(self, case: LoggedCase, verdict: CaseVerdict) -> LoggedCase:
        """The case with its verdict in the thread, or blocked if Slack refuses that."""
        texts = words.texts(case, verdict)
        case, begins_now = await self._post_once(case, "thread", texts)
        post = verdicts.verdict_message(case, verdict)
        case, is_new = await self._post_once(case, "reply", post)
        if case.blocked_by:
            return case
        if not is_new:
            # The verdict replaces the placeholder.
            error = await refusal_of(self._update(case, case.reply_ts or "", post))
            if error:
                return _blocked(case, error)
        has_older_texts = case.message_ts is None and not begins_now
        if has_older_texts and not case.excluded:
            await self._change(case, case.thread_ts or "", texts)
        for earlier in await self.store.cases.replaced_by(case):
            earlier_verdict = await self.store.cases.verdict(earlier.id)
            if earlier_verdict and earlier.reply_ts:
                folded = verdicts.replaced(earlier, earlier_verdict, case, self.workspace_url)
                await self._change(case, earlier.reply_ts, folded)
        return case

    async def say_delay(self, case: LoggedCase, post: Post, *, is_first: bool) -> LoggedCase:
        """Says why the verdict takes longer: in the placeholder, or once to the requester alone."""
        try:
            case = await self._still_held(case)
            is_said = False
            if case.reply_ts and not case.is_private:
                is_said = await self._change(case, case.reply_ts, post)
            if not is_said and is_first and not case.is_watched:
                await self.messenger.tell(requester_of(case), post)
        except SLACK_ERRORS as exc:  # the case goes on, announced or not
            logger.warning("delay_not_said", case=case.id, error=in_brief(exc))
        return case

    async def ask(self, case: LoggedCase, trigger_id: str | None, reason: str) -> None:
        """Asks the requester for the question, with a modal while the trigger is valid, or a
        message with a button.
        """
        view = words.question_modal(case, ids.VIEW_ANSWER, reason, ModalState(case_id=case.id))
        if not (trigger_id and await self.messenger.open_modal(trigger_id, view)):
            await self.messenger.tell(requester_of(case), words.ask_for_question(case, reason))

    async def _react(self, case: LoggedCase, score: int) -> None:
        """Adds the score to the reply's last message as a reaction, in place of an earlier one, if
        Slack takes it.
        """
        place = {"channel": case.channel_id, "timestamp": case.last_ts}
        for earlier in await self.store.cases.replaced_by(case):
            its = place | {"timestamp": (await self.store.cases.with_turns(earlier)).last_ts}
            emoji = verdicts.score_emoji(earlier.score or 0)
            await refusal_of(self.client.reactions_remove(name=emoji, **its))
        error = await refusal_of(
            self.client.reactions_add(name=verdicts.score_emoji(score), **place)
        )
        if error not in {None, "already_reacted"}:
            logger.warning("not_reacted", case=case.id, channel=case.channel_id, error=error)

    async def _update(self, case: LoggedCase, ts: str, post: Post) -> None:
        await send_in_known_blocks(self.client.chat_update, post, channel=case.channel_id, ts=ts)

    async def _change(self, case: LoggedCase, ts: str, post: Post) -> bool:
        """Changes a message other than the verdict; a refusal is only logged, as the message may be
        deleted.
        """
        error = await refusal_of(self._update(case, ts, post))
        if error:
            logger.warning("message_not_changed", case=case.id, error=error)
        return error is None

    async def _post_once(
        self, case: LoggedCase, part: PostPart, post: Post
    ) -> tuple[LoggedCase, bool]:
        """The case with the ts of our message or the reason why it cannot be posted, and whether it
        was posted now.

        If an earlier attempt may have posted the message, it is searched for first.
        """
        if case.blocked_by or getattr(case, f"{part}_ts"):
            return case, False
        if getattr(case, f"{part}_intent"):
            try:
                found = await _find(self.client, case, part)
            except RefusedCallError:
                # The app may not read the thread to check, and must not post twice.
                return case.model_copy(update={"blocked_by": verdicts.UNCONFIRMED}), False
            if found:
                return case.model_copy(update={f"{part}_ts": found}), False
        where = {
            "channel": case.channel_id,
            "thread_ts": case.thread_ts,
            "metadata": _mark(case, part),
            **WITHOUT_PREVIEWS,
        }
        try:
            # One post per channel at a time: if Slack delays one, the channel's next posts wait for
            # it.
            async with self.lines[case.channel_id].slot(case.requester_id):
                case = await self._still_held(case)
                answer = await or_refusal(
                    send_in_known_blocks(self.client.chat_postMessage, post, **where)
                )
        except RefusedCallError as exc:
            return _blocked(case, slack_word(exc)), False
        return case.model_copy(update={f"{part}_ts": str(answer["ts"])}), True

    async def _still_held(self, case: LoggedCase) -> LoggedCase:
        """The case, checked in the store after a while: a process that froze must not post beside a
        later attempt.
        """
        is_fresh = clock_s() - case.asked_at_s < _FRESH_S
        return case if is_fresh else await self.store.renew(case)


async def with_unconfirmed(client: AsyncWebClient, case: LoggedCase) -> LoggedCase:
    """The case with our messages that Slack may have posted without saying so; raises
    RefusedCallError if the app may still not look for them.
    """
    for part in get_args(PostPart) if case.blocked_by == verdicts.UNCONFIRMED else ():
        if not getattr(case, f"{part}_ts"):
            case = case.model_copy(update={f"{part}_ts": await _find(client, case, part)})
    return case


async def _find(client: AsyncWebClient, case: LoggedCase, part: PostPart) -> str | None:
    oldest = case.created_at.timestamp() - _CLOCK_SKEW_S
    sought = find_marked(client, case.channel_id, _mark(case, part), oldest, case.thread_ts)
    return await or_refusal(sought)


def _mark(case: LoggedCase, part: PostPart) -> dict[str, Any]:
    return to_metadata(ids.METADATA_EVENT, {"case_id": case.id, "part": part})


def taken_up(case: LoggedCase) -> LoggedCase:
    """The case at the beginning of an attempt to judge it, with its thread, if there is one before
    the verdict.

    An earlier `blocked_by` is reset, because its cause may have passed.
    """
    changes: dict[str, Any] = {"blocked_by": None}
    if case.blocked_by not in {
        None,
        verdicts.UNCONFIRMED,
    }:  # Slack refused the last post: there is none to look for
        changes |= {"thread_intent": False, "reply_intent": False}
    if not case.is_private:
        changes["thread_ts"] = case.thread_ts or case.parent_ts or case.message_ts
    return case.model_copy(update=changes)


def _blocked(case: LoggedCase, error: str) -> LoggedCase:
    """The case, marked as one whose thread cannot be written to."""
    logger.warning("thread_not_writable", case=case.id, channel=case.channel_id, error=error)
    return case.model_copy(update={"blocked_by": error})
