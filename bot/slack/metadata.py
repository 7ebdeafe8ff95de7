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
    seen: dict[str, Any] = {
        "channel": channel,
        "include_all_metadata": True,
        "oldest": f"{oldest:.6f}",
        "limit": _PAGE,
    }
    while True:
        if thread_ts:
            answer = await client.conversations_replies(ts=thread_ts, **seen)
        else:
            answer = await client.conversations_history(**seen)
        for message in answer.get("messages") or []:
            mark = message.get("metadata") or {}
            if all(mark.get(key) == value for key, value in metadata.items()):
                return str(message["ts"])
        cursor = (answer.get("response_metadata") or {}).get("next_cursor")
        if not cursor:
            return None
        seen["cursor"] = cursor
