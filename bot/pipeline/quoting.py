"""Posts that quote the judge's reasons in a list, such as digests: a reason goes when its case
loses its words.

Like a verdict, such a post is changed as it is in Slack. If the app may not read it, all of it
gives way to a sentence.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.blocks import Block
from bot.slack.client import RefusedCallError, or_refusal, refusal_of
from bot.slack.messenger import Post, Posted, send_in_known_blocks, sentence
from bot.store import Store

REMOVED = (
    "I removed this post, because it quoted what the judge wrote about a reply that is deleted "
    "or forgotten."
)
# What every Slack supports: a chart may not be accepted as Slack gives it back.
_PLAIN = {"section", "context", "actions", "rich_text"}
_FILE = "F"  # its id is in place of a ts
_IS_GONE = {None, "file_deleted", "file_not_found"}
# Slack returns a thread's parent whatever the time range.
_WITH_PARENT = 2

logger = structlog.get_logger(__name__)


async def find_posted(
    client: AsyncWebClient, channel_id: str, ts: str, thread_ts: str | None = None
) -> Post | None:
    answer = await client.conversations_replies(
        channel=channel_id,
        ts=thread_ts or ts,
        oldest=ts,
        latest=ts,
        inclusive=True,
        limit=_WITH_PARENT,
    )
    found = next((each for each in answer.get("messages") or [] if each["ts"] == ts), None)
    return Post(found.get("text") or "", found.get("blocks") or []) if found else None


@asynccontextmanager
async def noted(
    store: Store, client: AsyncWebClient, team_id: str, case_ids: Collection[int], message: Posted
) -> AsyncIterator[Collection[int]]:
    """Records that a message, or file, quotes these cases, before Slack gets their words; yields
    those that have no words to be quoted (any more).

    What is forgotten meanwhile goes right after, also if Slack's answer is lost.
    """
    lost = await store.edits.note_quoted(team_id, case_ids, *message)
    try:
        yield lost
    finally:
        kept = await store.edits.with_words(case_ids)
        if gone := set(case_ids).difference(lost, kept):
            await _unquote(store, client, *message, gone)


async def put_words(
    store: Store, client: AsyncWebClient, team_id: str, message: Posted, post: Post
) -> None:
    async with noted(store, client, team_id, post.cases, message) as lost:
        change = partial(client.chat_update, channel=message.channel_id, ts=message.ts)
        if error := await refusal_of(send_in_known_blocks(change, post.without(lost))):
            logger.warning("words_not_shown", error=error)  # the message stands without them


async def unquote(
    store: Store, client: AsyncWebClient, case_ids: Collection[int]
) -> Sequence[tuple[str, str]]:
    """Removes the reasons of these cases from the posts that quote them; returns the channel and ts
    of each.

    It is safe to repeat if Slack fails temporarily.
    """
    posts = sorted(await store.edits.quoted(case_ids))
    await clear(store, client, posts, case_ids)
    return posts


async def clear(
    store: Store,
    client: AsyncWebClient,
    posts: Iterable[tuple[str, str]],
    case_ids: Collection[int],
) -> None:
    """Removes from these posts the reasons of these cases, and all that are no longer in the store."""
    for channel_id, ts in posts:
        await _unquote(store, client, channel_id, ts, case_ids)


async def _unquote(
    store: Store, client: AsyncWebClient, channel_id: str, ts: str, case_ids: Collection[int]
) -> None:
    error = None
    if ts.startswith(_FILE):
        error = await refusal_of(client.files_delete(file=ts))
    else:
        try:
            await change_posted(store, client, Posted(channel_id, ts), case_ids=case_ids)
        except RefusedCallError:
            blocks = sentence(REMOVED).blocks
            error = await refusal_of(
                client.chat_update(channel=channel_id, ts=ts, text=REMOVED, blocks=blocks)
            )
    if error not in _IS_GONE:
        logger.warning("verdict_not_amended", cases=sorted(case_ids), error=error)


async def change_posted(
    store: Store,
    client: AsyncWebClient,
    message: Posted,
    change: Callable[[Sequence[Block]], Awaitable[list[Block]]] | None = None,
    case_ids: Collection[int] = (),
) -> None:
    """Changes the blocks of a message of ours as it is in Slack, without the reasons of these cases,
    and of all that have none any more.

    Raises:
        RefusedCallError: Slack does not let us read or change it.
    """
    update = partial(client.chat_update, channel=message.channel_id, ts=message.ts)
    # Again after each change: another process may have read the post before, and put back what
    # this one has changed.
    for _ in range(5):
        post = await or_refusal(find_posted(client, *message))
        if post is None:
            return
        quoted = post.cases
        gone = quoted.difference(await store.edits.with_words(quoted.difference(case_ids)))
        due = post.without(gone)
        if change:
            due = replace(due, blocks=await change(due.blocks))
        if due == post:
            return
        plain_blocks = [each for each in due.blocks if each["type"] in _PLAIN]
        await or_refusal(send_in_known_blocks(update, replace(due, plain_blocks=plain_blocks)))
