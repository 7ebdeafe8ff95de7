"""Updates verdicts in Slack after their message was edited or deleted, or a person's words were forgotten.

The change is first recorded in the store, together with a job that updates the verdict. The job can safely run twice.
"""

import structlog
from slack_sdk.errors import SlackApiError

from bot.domain.case import CaseStatus, LoggedCase
from bot.feature import Services
from bot.pipeline import text as messages
from bot.pipeline.verdict_text import amended, is_replaced, verdict_message
from bot.slack.client import is_transient, refusal_of
from bot.slack.messages import Change
from bot.slack.messenger import Post, send_in_known_blocks

# Slack returns a thread's parent whatever the time range.
_WITH_PARENT = 2

logger = structlog.get_logger(__name__)


async def note(services: Services, change: Change) -> None:
    place = (change.team_id, change.channel_id, change.ts)
    if change.text is None:
        marked = await services.store.edits.note_deleted(*place)
    else:
        marked = await services.store.edits.note_edited(*place, change.text)
    if marked:
        logger.info("message_deleted" if change.text is None else "message_edited", cases=marked)


async def amend(services: Services, case_id: int) -> None:
    """Updates one verdict in Slack; does nothing if it is not delivered yet.

    Raises:
        SlackApiError, ClientError, TimeoutError: Slack fails temporarily.
    """
    case = await services.store.edits.case(case_id)
    if case is None or case.status is not CaseStatus.DELIVERED:
        return
    if case.loses_words:
        await services.store.edits.drop_texts(case)
    if case.forgotten_at and case.texts_ts:
        post = messages.forgotten_texts()
        call = services.client.chat_update(
            channel=case.channel_id, ts=case.texts_ts, text=post.text, blocks=post.blocks
        )
        if error := await refusal_of(call):
            logger.warning("verdict_not_amended", case=case.id, error=error)
    # A message that is gone or hidden stays as it is.
    if case.reply_ts and not case.blocked_by and (error := await refusal_of(_amend(services, case, case.reply_ts))):
        logger.warning("verdict_not_amended", case=case.id, error=error)
    await services.store.edits.note_said(case)
    if case.loses_words:
        await services.store.forgetting.scrub()


async def _amend(services: Services, case: LoggedCase, ts: str) -> None:
    if due := await _due(services, case, ts):
        await send_in_known_blocks(services.client.chat_update, due, channel=case.channel_id, ts=ts)


async def _due(services: Services, case: LoggedCase, ts: str) -> Post | None:
    """The verdict as it should be; None if it is up to date or no longer in Slack.

    It is based on the message in Slack, because the store may not have its words. It is built from the
    store if the verdict that had replaced it is gone, or if its words must go and the app may not read the message.
    """
    try:
        post = await _posted(services, case, ts)
        if post and is_replaced(post):
            return None if await services.store.cases.is_replaced(case.id) else await _anew(services, case)
    except SlackApiError as exc:
        if is_transient(exc) or not case.loses_words:
            raise
        return await _anew(services, case)
    # A part of the reply was deleted: the store has dropped what the judge wrote, and kept the other parts.
    verdict = await services.store.cases.verdict(case.id)
    has_quotes = case.response is None or verdict is None or bool(verdict.justification)
    due = amended(post, case, has_quotes=has_quotes) if post else None
    return due if due != post else None


async def _anew(services: Services, case: LoggedCase) -> Post | None:
    logged, verdict = await services.store.cases.get(case.id), await services.store.cases.verdict(case.id)
    return verdict_message(logged, verdict) if logged and verdict else None


async def _posted(services: Services, case: LoggedCase, ts: str) -> Post | None:
    """The verdict as it is in Slack, or None if it is gone."""
    answer = await services.client.conversations_replies(
        channel=case.channel_id,
        ts=case.thread_ts or ts,
        oldest=ts,
        latest=ts,
        inclusive=True,
        limit=_WITH_PARENT,
    )
    found = next((each for each in answer.get("messages") or [] if each["ts"] == ts), None)
    return Post(found.get("text") or "", found.get("blocks") or []) if found else None
