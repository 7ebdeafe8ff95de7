"""What the doctor says of watches: whether events can come where they are wanted, and whether replies can be read."""

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import SlackError
from bot.settings import Settings
from bot.slack.client import identify
from bot.slack.errors import connection_word, slack_word
from bot.slack.manifest import WATCH, manifest_path
from bot.slack.scopes import REACTIONS
from bot.store import Store

_ARCHIVED = "the channel is archived"
_INVITE = "type /invite @Slack Judge in it, also to end them there with /judge watch off"
_EVENTS = ("channels:history", "groups:history")


async def event_scopes(client: AsyncWebClient, settings: Settings) -> str:
    """That Slack may tell of messages; none of it can be asked for but the scopes.

    Raises:
        SlackError: It may not.
    """
    scopes = (await identify(client)).scopes
    if missing := [scope for scope in _EVENTS if scope not in scopes]:
        raise SlackError(
            f"WATCH_BY=events: scopes are missing: {', '.join(missing)}; paste {manifest_path(WATCH)} "
            "(api.slack.com/apps > your app > App Manifest) and reinstall the app, or set WATCH_BY=looking"
        )
    without = "" if REACTIONS in scopes else f", without {REACTIONS}: scores cannot be shown as reactions"
    return (
        f"WATCH_BY=events: the scopes are there{without}; Slack does not tell whether the app subscribes to "
        f"message events, as {manifest_path(WATCH).name} does"
    )


async def channel_lines(client: AsyncWebClient, settings: Settings) -> list[str]:
    """A line for each channel with watches; what is wrong with one is its people's to mend, and no fault of the app."""
    team_id = (await identify(client)).team_id
    store = await Store.open(settings.database_url)
    try:
        watches = await store.watches.of(team_id)
    finally:
        await store.close()
    channels = sorted({watch.channel_id for watch in watches})
    return [_line(each, await _trouble(client, each)) for each in channels]


def _line(channel_id: str, trouble: str) -> str:
    if not trouble:
        return f"ok     watches in {channel_id}: replies can be read"
    # In an archived channel nobody can type anything.
    mend = "they go on if it is unarchived" if trouble == _ARCHIVED else _INVITE
    return f"note   watches in {channel_id}: {trouble}, so nothing is scored there; {mend}"


async def _trouble(client: AsyncWebClient, channel_id: str) -> str:
    """Why the app cannot read a channel; empty where it can."""
    try:
        channel = (await client.conversations_info(channel=channel_id))["channel"]
        if channel.get("is_archived"):
            return _ARCHIVED
        if not channel.get("is_member"):
            return "the app is not in the channel"
        await client.conversations_history(channel=channel_id, limit=1)
    except SlackApiError as exc:
        return f"Slack does not let the app read ({slack_word(exc)})"
    except (aiohttp.ClientError, TimeoutError) as exc:
        return f"Slack cannot be asked ({connection_word(exc)})"
    return ""
