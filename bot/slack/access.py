"""Who may switch a channel's digest, and look at it: what cannot be made sure of is refused."""

import asyncio

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.errors import slack_word
from bot.slack.memberships import list_channels

_PATIENCE_S = 2.0
_DIRECT = "A digest is about a channel; there is none for direct messages."
_NOT_HERE = "I am not in this channel. Type `/invite @Slack Judge` first."
_NOT_YOU = "Only people in this channel can see or change its digest."
_ADMINS = "Only admins of this workspace can change digests here (setting DIGEST_BY)."
_UNSURE = "Slack does not let me see who is in this channel (`{error}`), so I leave its digest alone."


class Access:
    """Asks Slack who is in a channel, and who is an admin.

    Args:
        client: The bot's Web API client.
        is_for_admins: Whether only admins may change a digest.
    """

    def __init__(self, client: AsyncWebClient, is_for_admins: bool) -> None:
        self._client = client
        self._is_for_admins = is_for_admins

    async def refusal(self, channel_id: str, user_id: str, is_change: bool) -> str | None:
        """Why this person may not see the channel's digest, or not change it; None where they may."""
        if channel_id.startswith("D"):
            return _DIRECT
        try:
            async with asyncio.timeout(_PATIENCE_S):
                return await self._ask(channel_id, user_id, is_change and self._is_for_admins)
        except (SlackApiError, aiohttp.ClientError, TimeoutError) as exc:
            error = slack_word(exc)
            return _NOT_HERE if error == "channel_not_found" else _UNSURE.format(error=error)

    async def _ask(self, channel_id: str, user_id: str, needs_admin: bool) -> str | None:
        channel = (await self._client.conversations_info(channel=channel_id))["channel"]
        if not channel.get("is_member"):
            return _NOT_HERE
        if not await self.is_in(channel_id, user_id):
            return _NOT_YOU
        return _ADMINS if needs_admin and not await self.is_admin(user_id) else None

    async def allows_changes(self, user_id: str) -> bool:
        """Whether this person may change digests at all, of the channels that they are in; if in doubt, no."""
        if not self._is_for_admins:
            return True
        try:
            async with asyncio.timeout(_PATIENCE_S):
                return await self.is_admin(user_id)
        except (SlackApiError, aiohttp.ClientError, TimeoutError):
            return False

    async def is_in(self, channel_id: str, user_id: str) -> bool:
        """Whether the person is in the channel, asked of Slack anew.

        Raises:
            SlackApiError: Slack does not say.
        """
        return channel_id in await list_channels(self._client, user_id)

    async def is_admin(self, user_id: str) -> bool:
        """Whether the person is an admin or owner of the workspace.

        Raises:
            SlackApiError: Slack does not say.
        """
        user = (await self._client.users_info(user=user_id))["user"]
        return bool(user.get("is_admin") or user.get("is_owner"))
