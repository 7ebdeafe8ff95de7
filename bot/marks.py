"""Finding a message of ours by the metadata that we gave it: what decides whether it has to be posted again.

Source: https://docs.slack.dev/messaging/message-metadata/
"""

from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

_PAGE = 200
# None: an error page instead of an answer.
_PASSING = {None, "ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable"}
_PASSING |= {"request_timeout", "team_added_to_org"}
# Whoever runs the app has to mend these; until then they say nothing about the message or the channel.
_NOT_LET_IN = {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"}
_NOT_LET_IN |= {"accesslimited", "org_login_required", "ekm_access_denied", "two_factor_setup_required"}


def is_passing(exc: SlackApiError) -> bool:
    """Whether Slack only fails for the moment; it may also have done what it says it has not."""
    return exc.response.get("error") in _PASSING


def is_transient(exc: SlackApiError) -> bool:
    """Whether Slack may answer otherwise in a while, by itself or because the token was mended."""
    return is_passing(exc) or exc.response.get("error") in _NOT_LET_IN


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
