"""Our messages in Slack: each at most once, in the thread where it is possible, else to the requester alone."""

import asyncio
from collections import defaultdict
from datetime import timedelta
from typing import Any, Literal

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.case import LoggedCase
from bot.domain.recipient import requester_of
from bot.domain.verdict import RecordedVerdict
from bot.log import Log
from bot.slack import ids
from bot.slack.errors import is_transient, slack_word
from bot.slack.metadata import find_marked, to_metadata
from bot.slack.modal_state import ModalState
from bot.slack.post import Post, send_in_known_blocks
from bot.slack.teller import Teller
from bot.views import messages, modals

_CLOCK_SKEW_S = 60
# Slack gives a thread's parent whatever the span.
_WITH_PARENT = 2

Part = Literal["thread", "reply"]

logger = structlog.get_logger(__name__)


class _UnconfirmedError(Exception):
    """An earlier post may or may not have got through, and we may not look."""


class Delivery:
    """Posts and updates of the bot.

    The client must not repeat a post after a lost connection by itself: Slack may have taken the first one.

    Args:
        client: The bot's Web API client.
        teller: What tells the requester alone.
        log: Where it is written down what was posted, and what was begun.
        reposts_unconfirmed: Whether a post of which nobody can tell how it ended is posted again, and so perhaps twice;
            else the requester alone gets the verdict.
    """

    def __init__(self, client: AsyncWebClient, teller: Teller, log: Log, *, reposts_unconfirmed: bool = False) -> None:
        self._client = client
        self._teller = teller
        self._log = log
        self._reposts_unconfirmed = reposts_unconfirmed
        self._lines: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def announce(self, case: LoggedCase) -> LoggedCase:
        """The case with a placeholder in its thread; typed texts are posted first, and begin the thread."""
        if case.is_private or case.reply_ts:
            return case
        try:
            case = case.model_copy(update={"thread_ts": case.thread_ts or case.parent_ts or case.message_ts})
            if case.thread_ts is None:
                case = await self._post_once(case, "thread", messages.texts(case))
            case = await self._post_once(case, "reply", messages.placeholder(case))
            return await self._log.note_post(case, reply_ts=case.reply_ts, tries=0)
        except SlackApiError as exc:
            return await self._note_blocked(case, exc)
        except _UnconfirmedError:
            return await self._log.note_post(case, blocked_by=messages.UNCONFIRMED)

    async def deliver(self, case: LoggedCase, verdict: RecordedVerdict) -> None:
        """Turns the placeholder into the verdict, or shows the verdict to the requester alone."""
        if not case.is_private and case.reply_ts:
            post = messages.verdict_message(case, verdict)
            try:
                await self._update(case, case.reply_ts, post)
                return
            except SlackApiError as exc:
                case = await self._note_blocked(case, exc)
        self._log.presence.check()
        await self._teller.tell(requester_of(case), messages.verdict_message(case, verdict, messages.why_private(case)))

    async def amend(self, case: LoggedCase) -> None:
        """Has a verdict in a thread say what has become of its message; one that is gone or hidden stays.

        It is read from Slack, and not written anew, because the log may not have its words.
        """
        if not case.reply_ts or case.blocked_by:
            return
        span: dict[str, Any] = {"oldest": case.reply_ts, "latest": case.reply_ts, "inclusive": True}
        try:
            answer = await self._client.conversations_replies(
                channel=case.channel_id, ts=case.thread_ts or case.reply_ts, limit=_WITH_PARENT, **span
            )
            for found in answer.get("messages") or []:
                post = Post(found.get("text") or "", found.get("blocks") or [])
                if found["ts"] == case.reply_ts and (due := messages.amended(post, case)) != post:
                    await self._update(case, case.reply_ts, due)
        except SlackApiError as exc:
            if is_transient(exc):
                raise
            logger.warning("verdict_not_amended", case=case.id, error=slack_word(exc))

    async def say_later(self, case: LoggedCase, pause: timedelta, tries: int) -> None:
        """Says in place of the placeholder that the model cannot be asked now; to the requester alone, only once."""
        post = messages.later(case, pause, tries)
        if case.reply_ts and not case.is_private:
            try:
                await self._update(case, case.reply_ts, post)
                return
            except SlackApiError as exc:
                if is_transient(exc):
                    raise
                logger.warning("placeholder_not_updated", case=case.id, error=slack_word(exc))
        if case.tries == 1:
            await self._teller.tell(requester_of(case), post)

    async def ask(self, case: LoggedCase, trigger_id: str | None, reason: str) -> None:
        """Asks the requester for the question: a modal while the trigger lives, else a message with a button."""
        self._log.presence.check()
        view = modals.question_modal(case, ids.VIEW_ANSWER, reason, ModalState(case_id=case.id))
        if not (trigger_id and await self._teller.open_modal(trigger_id, view)):
            await self._teller.tell(requester_of(case), messages.ask_for_question(case, reason))

    async def _update(self, case: LoggedCase, ts: str, post: Post) -> None:
        self._log.presence.check()

        async def update(form: Post) -> None:
            await self._client.chat_update(channel=case.channel_id, ts=ts, text=form.text, blocks=form.blocks)

        await send_in_known_blocks(post, update)

    async def _post_once(self, case: LoggedCase, part: Part, post: Post) -> LoggedCase:
        """The case with our message; after a try of which nobody knows how it ended, it is looked for first."""
        was_begun = case.thread_intent if part == "thread" else case.reply_intent
        if was_begun:
            found = await self._find(case, part)
            if found:
                return case.model_copy(update={f"{part}_ts": found})
        else:
            case = await self._log.note_post(case, **{f"{part}_intent": True, "thread_ts": case.thread_ts})
        # In line: while Slack makes one post of a channel wait, the next ones of that channel wait behind it.
        async with self._lines[case.channel_id]:
            self._log.presence.check()
            answer = await self._client.chat_postMessage(
                channel=case.channel_id,
                thread_ts=case.thread_ts,
                text=post.text,
                blocks=post.blocks,
                unfurl_links=False,
                unfurl_media=False,
                metadata=_mark(case, part),
            )
        return case.model_copy(update={f"{part}_ts": str(answer["ts"])})

    async def _find(self, case: LoggedCase, part: Part) -> str | None:
        oldest = case.created_at.timestamp() - _CLOCK_SKEW_S
        try:
            return await find_marked(self._client, case.channel_id, _mark(case, part), oldest, case.thread_ts)
        except SlackApiError as exc:
            if is_transient(exc):
                raise
            if self._reposts_unconfirmed:
                return None
            raise _UnconfirmedError from exc

    async def _note_blocked(self, case: LoggedCase, exc: SlackApiError) -> LoggedCase:
        error = slack_word(exc)
        if is_transient(exc):
            raise exc
        logger.warning("thread_not_writable", case=case.id, channel=case.channel_id, error=error)
        return await self._log.note_post(case, blocked_by=error)


def _mark(case: LoggedCase, part: Part) -> dict[str, Any]:
    return to_metadata(ids.METADATA_EVENT, {"case_id": case.id, "part": part})
