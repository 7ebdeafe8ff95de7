"""Posts that quote the judge's reasons in a list, such as digests: a reason goes when its case
loses its words.

Like a verdict, such a post is changed as it is in Slack. If the app may not read it, all of it
gives way to a sentence.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import partial

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack import ids
from bot.slack.blocks import section
from bot.slack.client import RefusedCallError, or_refusal, refusal_of
from bot.slack.messenger import Post, send_in_known_blocks, sentence
from bot.store import Store

REMOVED = (
    "I removed this post, because it quoted what the judge wrote about a reply that is deleted "
    "or forgotten."
)
# What every Slack supports: a chart may not be accepted as Slack gives it back.
_PLAIN = {"section", "context", "actions", "rich_text"}
_FILE = "F"  # its id is in place of a ts
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


async def note_quotes(
    store: Store,
    client: AsyncWebClient,
    team_id: str,
    case_ids: Collection[int],
    channel_id: str,
    ts: str,
) -> None:
    """Records that a post quotes the reasons of these cases; those that were forgotten while it was
    sent go at once.
    """
    if gone := await store.edits.note_quoted(team_id, case_ids, channel_id, ts):
        await _unquote(store, client, channel_id, ts, gone)


async def note_found(
    store: Store, client: AsyncWebClient, team_id: str, channel_id: str, ts: str
) -> None:
    """The same for a post that is found in Slack, because the process that sent it has died."""
    post = await find_posted(client, channel_id, ts)
    await note_quotes(
        store, client, team_id, list(_lows(post).values()) if post else [], channel_id, ts
    )


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
    if ts.startswith(_FILE):
        error = await refusal_of(client.files_delete(file=ts))
        if error not in {None, "file_deleted", "file_not_found"}:
            logger.warning("verdict_not_amended", cases=sorted(case_ids), error=error)
        return
    change = partial(client.chat_update, channel=channel_id, ts=ts)
    error = None
    try:
        # Again after each change: another process may have read the post before, and put these
        # reasons back.
        for _ in range(5):
            post = await or_refusal(find_posted(client, channel_id, ts))
            its = _lows(post) if post else {}
            kept = await store.edits.with_reason({*its.values()}.difference(case_ids))
            gone = {block_id for block_id, case_id in its.items() if case_id not in kept}
            if not (post and gone):
                break
            # The reason is the second line of its block.
            blocks = [
                section(each["text"]["text"].partition("\n")[0]) | {"block_id": each["block_id"]}
                if each.get("block_id") in gone
                else each
                for each in post.blocks
            ]
            due = Post(post.text, blocks, [each for each in blocks if each["type"] in _PLAIN])
            if error := await refusal_of(send_in_known_blocks(change, due)):
                break
    except RefusedCallError:
        error = await refusal_of(send_in_known_blocks(change, sentence(REMOVED)))
    if error:
        logger.warning("verdict_not_amended", cases=sorted(case_ids), error=error)


def _lows(post: Post) -> dict[str, int]:
    """The blocks of a post that quote a reason, by id, and the numbers of their cases."""
    quoting = (each for each in post.blocks if str(each.get("block_id")).startswith(ids.BLOCK_LOW))
    found = [each["block_id"] for each in quoting if "\n" in each["text"]["text"]]
    return {block_id: int(block_id.removeprefix(ids.BLOCK_LOW)) for block_id in found}
