"""Updates verdicts in Slack after their message was edited or deleted, or a person's words were
forgotten.

The change is first recorded in the store, together with a job that updates the verdict. The job can
safely run twice.
"""

import structlog

from bot.domain.case import CaseStatus, LoggedCase
from bot.pipeline import text as words
from bot.pipeline.delivery import with_unconfirmed
from bot.pipeline.quoting import find_posted, unquote
from bot.pipeline.verdict_text import UNCONFIRMED, amended, is_replaced, verdict_message
from bot.services import Services
from bot.slack.client import RefusedCallError, or_refusal, refusal_of, slack_word
from bot.slack.invocation import Raw
from bot.slack.messages import to_change
from bot.slack.messenger import Post, Posted, send_in_known_blocks, sentence

logger = structlog.get_logger(__name__)


async def note(services: Services, body: Raw) -> None:
    """Marks the cases of a message that was edited or deleted."""
    raw = body["event"]
    team_id = body["team_id"]
    edits = services.store.edits
    change = to_change(body, services.identity.own_ids)
    if change is None:
        return
    if change.text is None:
        changed = await edits.note_deleted(team_id, raw["channel"], change.ts)
    else:
        changed = await edits.note_edited(team_id, raw["channel"], change.ts, change.text)
    if changed:
        logger.info("message_changed", is_deleted=change.text is None, cases=changed)


async def amend(services: Services, case_id: int) -> None:
    """Updates one verdict in Slack; nothing if it is not delivered yet."""
    case = await services.store.edits.case(case_id)
    if case is None or case.status is not CaseStatus.DELIVERED:
        return
    if case.loses_words:
        await services.store.edits.drop_texts(case)
        await unquote(services.store, services.client, [case.id])
    error = None
    try:
        case = await with_unconfirmed(services.client, case)
    except RefusedCallError as exc:
        error = slack_word(exc)
    if case.forgotten_at and case.texts_ts:
        await services.messenger.update(
            Posted(case.channel_id, case.texts_ts), sentence(words.FORGOTTEN_TEXTS)
        )
    # A message that is gone or hidden stays as it is.
    if case.reply_ts and case.blocked_by in {None, UNCONFIRMED}:
        error = await refusal_of(_amend(services, case, case.reply_ts))
    if error:
        logger.warning("verdict_not_amended", case=case.id, error=error)
    await services.store.edits.note_said(case)
    if case.loses_words:
        await services.store.forgetting.scrub()


async def _amend(services: Services, case: LoggedCase, ts: str) -> None:
    if due := await _due(services, case, ts):
        await send_in_known_blocks(services.client.chat_update, due, channel=case.channel_id, ts=ts)


async def _due(services: Services, case: LoggedCase, ts: str) -> Post | None:
    """The verdict as it should be; None if it is up to date or no longer in Slack.

    It is based on the message in Slack, because the store may not have its words. It is built from
    the store if the verdict that had replaced it is gone, or if its words must go and the app may
    not read the message.
    """
    try:
        post = await or_refusal(find_posted(services.client, case.channel_id, ts, case.thread_ts))
        is_folded = post and is_replaced(post)
        is_over = await services.store.cases.is_replaced(case.id)
        if is_folded or (is_over and not case.loses_words):
            # The next verdict folds it, perhaps since it was read.
            return None if is_over else await _anew(services, case)
    except RefusedCallError:
        if not case.loses_words:
            raise
        return await _anew(services, case)
    due = amended(post, case) if post else None
    return due if due != post else None


async def _anew(services: Services, case: LoggedCase) -> Post | None:
    logged = await services.store.cases.get(case.id)
    verdict = await services.store.cases.verdict(case.id)
    return verdict_message(logged, verdict) if logged and verdict else None
