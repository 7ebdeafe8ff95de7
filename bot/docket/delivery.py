"""Our messages in Slack: each at most once, in the thread where it is possible, else to the requester alone."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Literal

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.domain.case import Case, CaseSource, LoggedCase
from bot.domain.verdict import RecordedVerdict
from bot.log import Log
from bot.slack import ids
from bot.slack.errors import error_of, is_transient, slack_word
from bot.slack.metadata import find_marked, to_metadata
from bot.views import messages, modals
from bot.views.messages import Post

_STANDS_IN_THE_CHANNEL = {CaseSource.LINK, CaseSource.TEXT, CaseSource.MODAL}

_CLOCK_SKEW_S = 60
# Slack gives a thread's parent whatever the span.
_WITH_PARENT = 2

Part = Literal["thread", "reply"]

logger = structlog.get_logger(__name__)


class _UnconfirmedError(Exception):
    """An earlier post may or may not have got through, and we may not look."""


class Delivery:
    """Posts, updates and modals of the bot.

    The client must not repeat a post after a lost connection by itself: Slack may have taken the first one.

    Args:
        client: The bot's Web API client.
        log: Where it is written down what was posted, and what was begun.
        reposts_unconfirmed: Whether a post of which nobody can tell how it ended is posted again, and so perhaps twice;
            else the requester alone gets the verdict.
    """

    def __init__(self, client: AsyncWebClient, log: Log, *, reposts_unconfirmed: bool = False) -> None:
        self._client = client
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
        await self.tell(case, messages.verdict_message(case, verdict, messages.why_private(case)))

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
            await self.tell(case, post)

    async def ask(self, case: LoggedCase, trigger_id: str | None, reason: str) -> None:
        """Asks the requester for the question: a modal while the trigger lives, else a message with a button."""
        self._log.presence.check()
        view = modals.question_modal(case, ids.VIEW_ANSWER, reason, modals.ModalState(case_id=case.id))
        if not (trigger_id and await self.open_modal(trigger_id, view)):
            await self.tell(case, messages.ask_for_question(case, reason))

    async def open_modal(self, trigger_id: str, view: dict[str, Any]) -> bool:
        """Whether the modal could be opened; a trigger lives 3 s and serves once."""
        try:
            await self._client.views_open(trigger_id=trigger_id, view=view)
        except SlackApiError as exc:
            logger.warning("modal_refused", error=slack_word(exc))
            return False
        return True

    async def publish(self, user_id: str, view: dict[str, Any]) -> None:
        """Shows a person their Home tab; where Slack will not have it, the one before stays."""
        try:
            await self._client.views_publish(user_id=user_id, view=view)
        except (SlackApiError, aiohttp.ClientError, TimeoutError) as exc:
            logger.warning("home_not_published", error=slack_word(exc))

    async def tell(self, case: Case, post: Post) -> bool:
        """Whether the requester alone could be told; where they stand first, by direct message at last."""
        ways: list[Callable[[Case, Post], Awaitable[bool]]] = [self._ephemeral, self._respond, self._direct]
        if case.source in _STANDS_IN_THE_CHANNEL:
            ways = [self._respond, self._ephemeral, self._direct]
        plain = messages.plain(post)
        for form in (post,) if plain is post else (post, plain):
            for way in ways:
                if await way(case, form):
                    return True
        logger.error("requester_unreachable", key=case.key, channel=case.channel_id)
        return False

    async def _update(self, case: LoggedCase, ts: str, post: Post) -> None:
        self._log.presence.check()
        try:
            await self._client.chat_update(channel=case.channel_id, ts=ts, text=post.text, blocks=post.blocks)
        except SlackApiError as exc:
            plain = messages.plain(post)
            if error_of(exc) != "invalid_blocks" or plain is post:
                raise
            await self._client.chat_update(channel=case.channel_id, ts=ts, text=plain.text, blocks=plain.blocks)

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

    async def _ephemeral(self, case: Case, post: Post) -> bool:
        # Slack shows an ephemeral in a thread only where the thread is there already:
        # https://docs.slack.dev/reference/methods/chat.postEphemeral
        try:
            await self._client.chat_postEphemeral(
                channel=case.channel_id,
                user=case.requester_id,
                thread_ts=case.parent_ts,
                text=post.text,
                blocks=post.blocks,
            )
        except SlackApiError as exc:
            return self._refused(case, "chat.postEphemeral", exc)
        return True

    async def _respond(self, case: Case, post: Post) -> bool:
        if not case.response_url:
            return False
        body: dict[str, Any] = {"text": post.text, "blocks": post.blocks, "replace_original": False}
        body["response_type"] = "ephemeral"
        if case.source not in _STANDS_IN_THE_CHANNEL and case.parent_ts:
            body["thread_ts"] = case.parent_ts
        try:
            answer = await AsyncWebhookClient(case.response_url, retry_handlers=[]).send_dict(body)
        except (aiohttp.ClientError, TimeoutError) as exc:
            logger.info("private_way_failed", key=case.key, way="response_url", error=type(exc).__name__)
            return False
        if answer.status_code != 200:
            logger.info("private_way_failed", key=case.key, way="response_url", error=answer.body[:100])
        return answer.status_code == 200

    async def _direct(self, case: Case, post: Post) -> bool:
        try:
            await self._client.chat_postMessage(channel=case.requester_id, text=post.text, blocks=post.blocks)
        except SlackApiError as exc:
            return self._refused(case, "chat.postMessage", exc)
        return True

    def _refused(self, case: Case, way: str, exc: SlackApiError) -> Literal[False]:
        error = slack_word(exc)
        if is_transient(exc):
            raise exc
        logger.info("private_way_failed", key=case.key, way=way, error=error)
        return False


def _mark(case: LoggedCase, part: Part) -> dict[str, Any]:
    return to_metadata(ids.METADATA_EVENT, {"case_id": case.id, "part": part})
