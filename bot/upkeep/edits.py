"""Brings verdicts in Slack up to date with what has become of the messages that they are about."""

from functools import partial

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.case import CaseStatus
from bot.extract.events import Change
from bot.log import Store
from bot.log.edits import EditedCase
from bot.slack.errors import is_transient, slack_word
from bot.slack.post import Post, send_in_known_blocks
from bot.views import messages

# Slack gives a thread's parent whatever the span.
_WITH_PARENT = 2

logger = structlog.get_logger(__name__)


class EditsUpkeep:
    """Marks cases whose message was edited or deleted, and has their verdicts say so.

    The mark in the log comes first, with a job that has the verdict follow; it may be done again without harm.
    """

    def __init__(self, client: AsyncWebClient, store: Store) -> None:
        self._client = client
        self._store = store

    async def note(self, change: Change) -> None:
        """Marks the cases of a changed message, if there are any."""
        place = (change.team_id, change.channel_id, change.ts)
        if change.text is None:
            marked = await self._store.edits.note_deleted(*place)
        else:
            marked = await self._store.edits.note_edited(*place, change.text)
        if marked:
            logger.info("message_deleted" if change.text is None else "message_edited", cases=marked)

    async def amend(self, case_id: int) -> None:
        """Brings one verdict up to date; one that is not delivered yet is left until it is.

        Raises:
            SlackApiError, ClientError, TimeoutError: Not now.
        """
        case = await self._store.edits.case(case_id)
        if case is None or case.status is not CaseStatus.DELIVERED:
            return
        if case.deleted_at:
            await self._store.edits.drop_texts(case)
        await self._amend(case)
        await self._store.edits.note_said(case)
        if case.deleted_at:
            await self._store.forgetting.scrub()

    async def _amend(self, case: EditedCase) -> None:
        """Has a verdict in a thread say what has become of its message; one that is gone or hidden stays.

        It is read from Slack, and not written anew, because the log may not have its words.
        """
        ts = case.reply_ts
        if not ts or case.blocked_by:
            return
        try:
            answer = await self._client.conversations_replies(
                channel=case.channel_id,
                ts=case.thread_ts or ts,
                oldest=ts,
                latest=ts,
                inclusive=True,
                limit=_WITH_PARENT,
            )
            for found in answer.get("messages") or []:
                post = Post(found.get("text") or "", found.get("blocks") or [])
                if found["ts"] == ts and (due := messages.amended(post, case)) != post:
                    await send_in_known_blocks(due, partial(self._update, case.channel_id, ts))
        except SlackApiError as exc:
            if is_transient(exc):
                raise
            logger.warning("verdict_not_amended", case=case.id, error=slack_word(exc))

    async def _update(self, channel_id: str, ts: str, post: Post) -> None:
        await self._client.chat_update(channel=channel_id, ts=ts, text=post.text, blocks=post.blocks)
