"""Our messages in Slack: each at most once, in the thread where it is possible, else to the requester alone."""

import asyncio
import time
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
from bot.log import Store
from bot.slack import ids
from bot.slack.metadata import find_marked, to_metadata
from bot.slack.trouble import error_of, is_transient, slack_word
from bot.views import messages, modals
from bot.views.messages import Post

_STANDS_IN_THE_CHANNEL = {CaseSource.LINK, CaseSource.TEXT, CaseSource.MODAL}

_CLOCK_SKEW_S = 60
# Far below the time after which the queue gives a silent worker's jobs to another.
_FRESH_S = 5.0

Part = Literal["thread", "reply"]

logger = structlog.get_logger(__name__)


class _UnconfirmedError(Exception):
    """An earlier post may or may not have got through, and we may not look."""


class Delivery:
    """Posts, updates and modals of the bot.

    The client must not repeat a post after a lost connection by itself: Slack may have taken the first one.

    Args:
        client: The bot's Web API client.
        store: Where it is written down whose turn it is to post.
        reposts_unconfirmed: Whether a post of which nobody can tell how it ended is posted again, and so perhaps twice;
            else the requester alone gets the verdict.
    """

    def __init__(self, client: AsyncWebClient, store: Store, *, reposts_unconfirmed: bool = False) -> None:
        self._client = client
        self._store = store
        self._reposts_unconfirmed = reposts_unconfirmed
        self._lines: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def begin_thread(self, case: LoggedCase) -> LoggedCase:
        """The case with the thread that its verdict goes to; typed texts are posted, and begin one."""
        if case.blocked_by not in {None, messages.UNCONFIRMED}:  # refused the last time, so that nothing is there
            case = case.model_copy(update={"thread_intent": False, "reply_intent": False})
        case = case.model_copy(update={"blocked_by": None})
        if case.is_private or case.reply_ts:
            return case
        thread_ts = case.thread_ts or case.parent_ts or case.message_ts
        if thread_ts is not None:
            return case.model_copy(update={"thread_ts": thread_ts})
        return await self._post_once(case, "thread", messages.texts(case))

    async def post_placeholder(self, case: LoggedCase) -> LoggedCase:
        """The case with a placeholder in its thread, if it has come so far."""
        if case.is_private or case.reply_ts or case.blocked_by:
            return case
        return await self._post_once(case, "reply", messages.placeholder(case))

    async def deliver(self, case: LoggedCase, verdict: RecordedVerdict) -> LoggedCase:
        """Turns the placeholder into the verdict, or shows the verdict to the requester alone."""
        case = await self._still_held(case)
        if not case.is_private and case.reply_ts:
            post = messages.verdict_message(case, verdict)
            try:
                await self._update(case, case.reply_ts, post)
                return case
            except SlackApiError as exc:
                case = _blocked(case, exc)
        await self.tell(case, messages.verdict_message(case, verdict, messages.why_private(case)))
        return case

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
        if case.model_tries == 1:
            await self.tell(case, post)

    async def ask(self, case: LoggedCase, trigger_id: str | None, reason: str) -> None:
        """Asks the requester for the question: a modal while the trigger lives, else a message with a button."""
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
        try:
            await self._client.chat_update(channel=case.channel_id, ts=ts, text=post.text, blocks=post.blocks)
        except SlackApiError as exc:
            plain = messages.plain(post)
            if error_of(exc) != "invalid_blocks" or plain is post:
                raise
            await self._client.chat_update(channel=case.channel_id, ts=ts, text=plain.text, blocks=plain.blocks)

    async def _post_once(self, case: LoggedCase, part: Part, post: Post) -> LoggedCase:
        """The case with our message, or with what keeps us from posting it.

        After a try of which nobody knows how it ended, the message is looked for first.
        """
        was_begun = case.thread_intent if part == "thread" else case.reply_intent
        try:
            ts = await self._find(case, part) if was_begun else None
            if ts is None:
                case, ts = await self._post(case, part, post)
        except SlackApiError as exc:
            return _blocked(case, exc)
        except _UnconfirmedError:
            return case.model_copy(update={"blocked_by": messages.UNCONFIRMED})
        return case.model_copy(update={f"{part}_ts": ts})

    async def _post(self, case: LoggedCase, part: Part, post: Post) -> tuple[LoggedCase, str]:
        # In line: while Slack makes one post of a channel wait, the next ones of that channel wait behind it.
        async with self._lines[case.channel_id]:
            case = await self._still_held(case)
            answer = await self._client.chat_postMessage(
                channel=case.channel_id,
                thread_ts=case.thread_ts,
                text=post.text,
                blocks=post.blocks,
                unfurl_links=False,
                unfurl_media=False,
                metadata=_mark(case, part),
            )
        return case, str(answer["ts"])

    async def _still_held(self, case: LoggedCase) -> LoggedCase:
        """The case, asked for in the log once more where its last step was a while ago.

        Whoever froze in between may find that another attempt has begun, and must not post.
        """
        is_fresh = time.monotonic() - case.asked_at_s < _FRESH_S
        return case if is_fresh else await self._store.renew(case)

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


def _blocked(case: LoggedCase, exc: SlackApiError) -> LoggedCase:
    """The case whose thread cannot be written to; what may pass is raised."""
    if is_transient(exc):
        raise exc
    error = slack_word(exc)
    logger.warning("thread_not_writable", case=case.id, channel=case.channel_id, error=error)
    return case.model_copy(update={"blocked_by": error})


def _mark(case: LoggedCase, part: Part) -> dict[str, Any]:
    return to_metadata(ids.METADATA_EVENT, {"case_id": case.id, "part": part})
