"""`/judge forget`, which quotes what it would delete and asks first.

A case can be deleted by its requester and by an admin who is in the channel. If only the requester
could see it (`LoggedCase.is_for_one`), other people, including admins, get the same answer as if it
did not exist. A person's words are removed from all cases, but only at the request of that person.

The app's messages in Slack are deleted before the case in the store, so that an interrupted request
can be repeated.
"""

from collections.abc import Sequence
from contextlib import suppress

import structlog
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.case import LoggedCase, to_case_id
from bot.features.privacy import text as words
from bot.features.privacy.queries import PersonalData, cases_at
from bot.pipeline.delivery import with_unconfirmed
from bot.pipeline.quoting import clear, unquote
from bot.services import Services
from bot.slack.client import SLACK_ERRORS, RefusedCallError, refusal_of, slack_word, unless_refused
from bot.slack.invocation import Invocation, Raw, on_click
from bot.slack.members import list_channels
from bot.slack.messages import parse_permalink
from bot.slack.messenger import Post, Posted
from bot.store.cases import AT_REST

_ME = "me"
_MOST = 150  # case numbers that fit in a button's value
_QUOTED = 10

logger = structlog.get_logger(__name__)


def register(app: AsyncApp, services: Services) -> None:
    @on_click(app, words.ACTION_FORGET)
    async def go_ahead(invocation: Invocation, _: Raw) -> None:
        # Not the button, but the person who clicks decides whose words are forgotten and which
        # cases may be deleted.
        forget = _forget_words if invocation.value == _ME else _forget
        said = await forget(services, invocation)
        if said in (words.NO_WORDS, words.ALREADY, words.NOT_NOW):
            # The button stays to try again, and a second press does not hide what the first has
            # deleted.
            await services.messenger.tell(invocation.recipient, said)
        else:
            await services.messenger.replace(invocation.recipient, said)


async def answer(services: Services, invocation: Invocation, text: str) -> Post | str:
    if text.lower() == _ME:
        return words.ask_first(words.FORGET_WORDS, "Forget my words", _ME)
    found = await _find(services, invocation, text)
    if isinstance(found, str):
        return found
    try:
        theirs, others = await _divide(services, found, invocation.user_id)
    except SLACK_ERRORS:
        return words.NOT_NOW
    unsettled = [case.id for case in theirs if case.status not in AT_REST]
    stays = words.staying_text(unsettled, len(others))
    at_rest = [case for case in theirs if case.status in AT_REST][:_MOST]
    if at_rest:
        return await _ask_first(services, invocation, at_rest, stays)
    return stays or words.NOTHING


async def _ask_first(
    services: Services, person: Invocation, at_rest: Sequence[LoggedCase], stays: str
) -> Post:
    """Asks about these cases, and lists some, which tells the person their scores."""
    numbers = [case.id for case in at_rest]
    shown = at_rest[:_QUOTED]
    await services.store.assignments.note_told(person.team_id, numbers[:_QUOTED], person.user_id)
    quoted = await services.case_access.listed(shown, person.user_id, person.channel_id)
    return words.ask_for_cases(numbers, quoted, stays, services.identity.url)


async def _find(
    services: Services, invocation: Invocation, text: str
) -> Sequence[LoggedCase] | str:
    """The cases that the text names; a sentence with the reason if it names none."""
    if number := to_case_id(text):
        return await services.store.cases.numbered(invocation.team_id, [number])
    link = parse_permalink(text)
    if link is None:
        return words.HOW
    return await cases_at(services.store.database, invocation.team_id, link)


async def _forget_words(services: Services, invocation: Invocation) -> str:
    """Removes a person's words from the store; jobs then update the verdicts in Slack."""
    gone = await PersonalData(services.store.database).forget(
        invocation.team_id, invocation.user_id
    )
    await services.store.forgetting.scrub()
    logger.info("person_forgotten", cases=gone.cases, others=gone.others)
    return words.words_forgotten_text(gone) if any(gone) else words.NO_WORDS


async def _forget(services: Services, invocation: Invocation) -> str:
    """Deletes those of the numbered cases that this person may delete."""
    numbers = [to_case_id(number) or 0 for number in invocation.value.split(",")[:_MOST]]
    found = await services.store.cases.numbered(invocation.team_id, numbers)
    try:
        theirs, others = await _divide(services, found, invocation.user_id)
        at_rest = [case for case in theirs if case.status in AT_REST]
        gone, errors = await _delete(services, at_rest, invocation.user_id)
    except SLACK_ERRORS:
        return words.NOT_NOW  # all cases are still in the store
    # Read again: another press may have deleted some meanwhile.
    left = await services.store.cases.numbered(invocation.team_id, [case.id for case in theirs])
    stays = words.staying_text([case.id for case in left], len(others))
    return words.forgotten_text(sorted(gone), errors, stays)


async def _delete(
    services: Services, at_rest: Sequence[LoggedCase], by: str
) -> tuple[Sequence[int], Sequence[str | None]]:
    """Deletes what quotes these cases and our messages about them, and then the cases; returns
    those that are gone, and what `_remove_posts` does.
    """
    store = services.store
    client = services.client
    numbers = [case.id for case in at_rest]
    posts = await unquote(store, client, numbers)
    errors = await _remove_posts(client, at_rest)
    gone = await store.forgetting.forget(numbers, by)
    if gone:
        await store.forgetting.scrub()
    logger.info("cases_forgotten", cases=gone)
    # Meanwhile another person's deletion may have put a reason back into a post.
    with suppress(*SLACK_ERRORS):
        await clear(store, client, posts, gone)
    return gone, errors


async def _remove_posts(
    client: AsyncWebClient, at_rest: Sequence[LoggedCase]
) -> Sequence[str | None]:
    """Deletes our messages about these cases that everybody sees; for each Slack's error, None if
    it is deleted.
    """
    replies = list[Posted]()
    parents = list[Posted]()
    errors = list[str | None]()
    for case in at_rest:
        try:
            found = await with_unconfirmed(client, case)
        except RefusedCallError as exc:  # there may be one, and the app may not look
            errors.append(slack_word(exc))
            continue
        if found.reply_ts:
            replies.append(Posted(case.channel_id, found.reply_ts))
        if found.texts_ts:
            parents.append(Posted(case.channel_id, found.texts_ts))
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
    if not shared:
        return own, []
    channels = await unless_refused(list_channels(services.client, user_id))
    if shared[0].channel_id not in (channels or ()):
        return own, []
    if await services.access.is_admin(user_id):
        return own + shared, []
    return own, shared
