"""`/judge forget`, which quotes what it would delete and asks first, and retention.

A case can be deleted by its requester and by an admin who is in the channel. If only the requester
could see it (`LoggedCase.is_for_one`), other people, including admins, get the same answer as if it
did not exist. A person's words are removed from all cases, but only at the request of that person.

The app's messages in Slack are deleted before the case in the store, so that an interrupted request
can be repeated.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

import structlog
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy import delete

from bot.domain.case import LoggedCase, to_case_id
from bot.domain.clock import utc_now
from bot.feature import Services
from bot.features.privacy import text as words
from bot.features.privacy.queries import PersonalData, cases_at
from bot.pipeline.delivery import with_unconfirmed
from bot.pipeline.quoting import clear, unquote
from bot.slack.client import SLACK_ERRORS, RefusedCallError, refusal_of, slack_word
from bot.slack.invocation import Invocation, Raw, on_click
from bot.slack.messages import parse_permalink
from bot.slack.messenger import Post, Posted
from bot.store import Store
from bot.store.cases import AT_REST
from bot.store.schema import IS_TAKEN_BACK, audit, notices, spent, thumbs
from bot.store.spending import DAY

_ME = "me"
_MOST = 150  # case numbers that fit in a button's value
_QUOTED = 10
_SENT_AGAIN_FOR = timedelta(
    days=1
)  # the longest that Slack retries events: https://docs.slack.dev/apis/events-api
_NOTICES_KEPT = timedelta(days=90)  # a release is told within eight weeks
AUDIT_KEPT = timedelta(days=730)
"""How long a row of the audit is kept, whatever RETENTION_DAYS says: people's ids are not kept forever, either."""

logger = structlog.get_logger(__name__)


def register(app: AsyncApp, services: Services) -> None:
    @on_click(app, words.ACTION_FORGET)
    async def go_ahead(invocation: Invocation, _: Raw) -> None:
        # Not the button, but the person who clicks decides whose words are forgotten and which
        # cases may be deleted.
        said = await (_forget_words if invocation.value == _ME else _forget)(services, invocation)
        is_nothing = said in (words.HOW, words.NO_WORDS, words.NOTHING, words.NOT_NOW)
        # The button stays to try again, and a second press does not hide what the first has
        # deleted.
        await (services.messenger.tell if is_nothing else services.messenger.replace)(
            invocation.recipient, said
        )


async def answer(services: Services, invocation: Invocation, text: str) -> Post | str:
    if text.lower() == _ME:
        said = await PersonalData(services.store.database).count(
            invocation.team_id, invocation.user_id
        )
        if not any(said):
            return await _forget_words(services, invocation)
        return words.ask_first(words.personal_data_text(said), "Forget my words", _ME)
    found = await _find(services, invocation, text)
    if isinstance(found, str):
        return found
    try:
        theirs, others = await _divide(services, found, invocation.user_id)
    except SLACK_ERRORS:
        return words.NOT_NOW
    stays = words.staying_text(
        [case.id for case in theirs if case.status not in AT_REST], len(others)
    )
    numbers = [case.id for case in theirs if case.status in AT_REST][:_MOST]
    if not numbers:
        return stays or words.NOTHING
    seen = await services.store.cases.numbered(invocation.team_id, numbers[:_QUOTED])
    await services.store.assignments.note_told(
        invocation.team_id, [case.id for case in seen], invocation.user_id
    )
    quoted = await services.case_access.listed(seen, invocation.user_id, invocation.channel_id)
    return words.ask_for_cases(numbers, quoted, stays, services.identity.url)


async def _find(
    services: Services, invocation: Invocation, text: str
) -> Sequence[LoggedCase] | str:
    """The cases that the text names; a sentence with the reason if it names none."""
    if text.isascii() and text.isdigit():
        return await services.store.cases.numbered(invocation.team_id, [to_case_id(text) or 0])
    link = parse_permalink(text)
    if link is None:
        return words.HOW
    if blocker := link.blocker({services.identity.host} | invocation.hosts):
        return blocker
    place = invocation.team_id, link.channel_id, link.message_ts, link.parent_ts
    return await cases_at(services.store.database, *place)


async def _forget_words(services: Services, invocation: Invocation) -> str:
    """Removes a person's words from the store; jobs then update the verdicts in Slack."""
    gone = await PersonalData(services.store.database).forget(
        invocation.team_id, invocation.user_id
    )
    await services.store.forgetting.scrub()
    logger.info("person_forgotten", cases=gone.cases, labels=gone.reasons)
    return words.personal_data_forgotten_text(gone) if any(gone) else words.NO_WORDS


async def _forget(services: Services, invocation: Invocation) -> str:
    """Deletes those of the numbered cases that this person may delete."""
    numbers = [to_case_id(number) or 0 for number in invocation.value.split(",")[:_MOST]]
    if 0 in numbers:
        return words.HOW
    found = await services.store.cases.numbered(invocation.team_id, numbers)
    try:
        theirs, others = await _divide(services, found, invocation.user_id)
        at_rest = [case for case in theirs if case.status in AT_REST]
        posts = await unquote(services.store, services.client, [case.id for case in at_rest])
        errors = await _remove_posts(services.client, at_rest)
    except SLACK_ERRORS:
        return words.NOT_NOW  # all cases are still in the store
    gone = await services.store.forgetting.forget([case.id for case in at_rest], invocation.user_id)
    with suppress(
        *SLACK_ERRORS
    ):  # meanwhile another person's deletion may have put a reason back into a post
        await clear(services.store, services.client, posts, gone)
    if gone:
        await services.store.forgetting.scrub()
    logger.info("cases_forgotten", cases=gone)
    refused = [error for error in errors if error and error != "message_not_found"]
    is_private = any(case.delivered_at and (case.is_private or case.blocked_by) for case in at_rest)
    # Read again: another press may have deleted some meanwhile.
    left = await services.store.cases.numbered(invocation.team_id, [case.id for case in theirs])
    stays = words.staying_text([case.id for case in left], len(others))
    return words.forgotten_text(
        sorted(gone), errors.count(None), refused, stays, is_private=is_private
    )


async def _remove_posts(client: AsyncWebClient, of: Sequence[LoggedCase]) -> Sequence[str | None]:
    """Deletes our messages about these cases that everybody sees; for each Slack's error, None if
    it is deleted.
    """
    replies: list[Posted] = []
    parents: list[Posted] = []
    errors: list[str | None] = []
    for case in of:
        try:
            found = await with_unconfirmed(client, case)
        except RefusedCallError as exc:  # there may be one, and the app may not look
            errors.append(slack_word(exc))
            continue
        replies += [Posted(case.channel_id, found.reply_ts)] if found.reply_ts else []
        parents += [Posted(case.channel_id, found.texts_ts)] if found.texts_ts else []
    # Replies first, because deleting the parent of a nonempty thread leaves a tombstone.
    for message in (*replies, *parents):
        deletion = client.chat_delete(channel=message.channel_id, ts=message.ts)
        errors.append(await refusal_of(deletion))
    return errors


async def _divide(
    services: Services, found: Sequence[LoggedCase], user_id: str
) -> tuple[list[LoggedCase], list[LoggedCase]]:
    """The cases that this person may delete, and those that they may only know about."""
    own = [case for case in found if case.requester_id == user_id]
    shared = [case for case in found if case.requester_id != user_id and not case.is_for_one]
    if not shared or not await services.access.is_in(shared[0].channel_id, user_id):
        return own, []
    if await services.access.is_admin(user_id):
        return own + shared, []
    return own, shared


async def retain(store: Store, days: int | None, text_days: int = 0) -> None:
    """Deletes the cases and texts whose retention period is over; None days are forever, 0
    `text_days` are `days`.

    If no texts are kept, also cases that have waited a day for their question, as their response is
    stored till then.
    """
    now = utc_now()
    deleted = 0
    log = store.forgetting
    if days is not None:
        deleted += await log.forget_older(now - timedelta(days=days))
    if not store.assignments.keeps_text:
        deleted += await log.forget_unanswered(now - timedelta(days=1))
    if text_days and (dropped := await log.drop_older_texts(now - timedelta(days=text_days))):
        logger.info("texts_dropped", older_than_days=text_days, cases=dropped)
    if deleted:
        logger.info("cases_forgotten", older_than_days=days, cases=deleted)
    for over in (
        delete(thumbs).where(IS_TAKEN_BACK, thumbs.c.changed_at < now - _SENT_AGAIN_FOR),
        delete(audit).where(audit.c.at < now - AUDIT_KEPT),
        delete(notices).where(notices.c.claimed_at < now - _NOTICES_KEPT),
        delete(spent).where(spent.c.created_at < now - DAY),
    ):
        await store.database.execute(over)
    await log.scrub(
        unless_since=now - timedelta(days=1)
    )  # if a reader is in the way, the next run tries again
