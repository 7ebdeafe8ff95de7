"""Posts that quote the judge's reasons in a list, such as digests: a reason goes when its case loses its words.

Like a verdict, such a post is changed as it is in Slack. If the app may not read it, all of it gives way to a sentence.
"""

from collections.abc import Collection, Sequence
from itertools import groupby
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack import ids
from bot.slack.blocks import section
from bot.slack.client import RefusedCallError, or_refusal, refusal_of
from bot.slack.messenger import Post, send_in_known_blocks, sentence
from bot.store import Store

REMOVED = "I removed this post, because it quoted what the judge wrote about a reply that is deleted or forgotten."
# What every Slack supports: a chart may not be accepted as Slack gives it back.
_PLAIN = {"section", "context", "actions", "rich_text"}
_FILE = "F"  # its id is in place of a ts
# Slack returns a thread's parent whatever the time range.
_WITH_PARENT = 2

logger = structlog.get_logger(__name__)


async def find_posted(client: AsyncWebClient, channel_id: str, ts: str, thread_ts: str | None = None) -> Post | None:
    answer = await client.conversations_replies(
        channel=channel_id, ts=thread_ts or ts, oldest=ts, latest=ts, inclusive=True, limit=_WITH_PARENT
    )
    found = next((each for each in answer.get("messages") or [] if each["ts"] == ts), None)
    return Post(found.get("text") or "", found.get("blocks") or []) if found else None


async def note_quotes(
    store: Store, client: AsyncWebClient, team_id: str, case_ids: Collection[int], channel_id: str, ts: str
) -> None:
    """Records that a post quotes the reasons of these cases; those that were forgotten while it was sent go at once."""
    if gone := await store.edits.note_quoted(team_id, case_ids, channel_id, ts):
        await _unquote(client, channel_id, ts, gone)


async def note_found(store: Store, client: AsyncWebClient, team_id: str, channel_id: str, ts: str) -> None:
    """The same for a post that is found in Slack, because the process that sent it has died."""
    post = await find_posted(client, channel_id, ts)
    blocks = [str(block.get("block_id")) for block in post.blocks] if post else []
    case_ids = [int(each.removeprefix(ids.BLOCK_LOW)) for each in blocks if each.startswith(ids.BLOCK_LOW)]
    await note_quotes(store, client, team_id, case_ids, channel_id, ts)


async def unquote(store: Store, client: AsyncWebClient, case_ids: Collection[int]) -> None:
    """Removes the reasons of these cases from the posts that quote them; safe to repeat if Slack fails temporarily."""
    found: Sequence[Any] = []
    # Another job may have read a post before this one changed it, and put these reasons back: it finds them due.
    while (due := sorted(await store.edits.quoted(case_ids))) != found:
        found = due
        for (channel_id, ts), its in groupby(found, key=lambda row: (row.channel_id, row.ts)):
            await _unquote(client, channel_id, ts, [row.case_id for row in its])


async def _unquote(client: AsyncWebClient, channel_id: str, ts: str, case_ids: Collection[int]) -> None:
    if ts.startswith(_FILE):
        error = await refusal_of(client.files_delete(file=ts))
        if error not in {None, "file_deleted", "file_not_found"}:
            logger.warning("verdict_not_amended", cases=sorted(case_ids), error=error)
        return
    try:
        post = await or_refusal(find_posted(client, channel_id, ts))
    except RefusedCallError:
        due = sentence(REMOVED)
    else:
        which = {f"{ids.BLOCK_LOW}{case_id}" for case_id in case_ids}
        if post is None:
            return
        # The reason is the second line of its block.
        blocks = [
            section(each["text"]["text"].partition("\n")[0]) | {"block_id": each["block_id"]}
            if each.get("block_id") in which
            else each
            for each in post.blocks
        ]
        due = Post(post.text, blocks, [each for each in blocks if each["type"] in _PLAIN])
    if error := await refusal_of(send_in_known_blocks(client.chat_update, due, channel=channel_id, ts=ts)):
        logger.warning("verdict_not_amended", cases=sorted(case_ids), error=error)
