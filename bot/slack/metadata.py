"""Finding a message of ours by the metadata that we gave it: what decides whether it has to be posted again.

Source: https://docs.slack.dev/messaging/message-metadata/
"""

from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

_PAGE = 200


def to_metadata(event: str, payload: dict[str, Any]) -> dict[str, Any]:
    """The metadata that `find_marked` knows a message by."""
    return {"event_type": event, "event_payload": payload}


async def find_marked(
    client: AsyncWebClient, channel: str, metadata: dict[str, Any], oldest: float, thread_ts: str | None = None
) -> str | None:
    """The ts of the message with this metadata, in a channel or thread, posted at `oldest` (epoch s) or later.

    Raises:
        SlackApiError: The channel may not be read, or not now.
    """
    span: dict[str, Any] = {"oldest": f"{oldest:.6f}", "include_all_metadata": True, "limit": _PAGE}
    if thread_ts:
        pages = await client.conversations_replies(channel=channel, ts=thread_ts, **span)
    else:
        pages = await client.conversations_history(channel=channel, **span)
    async for page in pages:
        for message in page.get("messages") or []:
            found = message.get("metadata") or {}
            if all(found.get(key) == value for key, value in metadata.items()):
                return str(message["ts"])
    return None
