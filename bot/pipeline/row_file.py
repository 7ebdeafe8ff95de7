"""Sends a person a list as a file of rows, which goes when a case that it quotes loses its words."""

from collections.abc import Collection, Sequence

import structlog
from slack_sdk.errors import SlackRequestError

from bot.pipeline.quoting import noted
from bot.slack.client import SLACK_ERRORS, SlackClient
from bot.slack.invocation import Invocation
from bot.slack.messenger import Posted
from bot.slack.upload import begin_upload, finish_upload
from bot.store import Store

NEEDED_SCOPE = "files:write"
FILE_IS_THEIRS = (
    "I delete this file when one of its replies is deleted or forgotten. What you download is "
    "yours to delete."
)
FILE_SENT = "The file is in your direct messages with me."
NO_FILE = "Slack did not take the file. Try again in a minute."

logger = structlog.get_logger(__name__)


async def send_rows(
    store: Store,
    client: SlackClient,
    person: Invocation,
    name: str,
    title: str,
    rows: Sequence[str],
    case_ids: Collection[int],
) -> str:
    """Sends rows of JSON, with words of these cases, to a person; returns what to tell them."""
    content = "\n".join(rows).encode()
    try:
        upload = await begin_upload(client, name, len(content))
        place = Posted(person.user_id, upload.file_id)
        async with noted(store, client, person.team_id, case_ids, place) as lost:
            if lost:  # forgotten since it was read
                return NO_FILE
            await finish_upload(client, upload, content, title, person.user_id, FILE_IS_THEIRS)
    except (*SLACK_ERRORS, SlackRequestError) as exc:
        logger.info("private_way_failed", way="files.upload", error=type(exc).__name__)
        return NO_FILE
    return FILE_SENT
