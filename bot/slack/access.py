"""Who may switch a channel's digest, and look at it: what cannot be made sure of is refused, and so are guests."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.client import slack_word
from bot.slack.members import is_guest, list_channels

_PATIENCE_S = 2.0


class NoAccessReason(StrEnum):
    DIRECT_MESSAGES = "direct_messages"
    APP_IS_NOT_IN = "app_is_not_in"
    PERSON_IS_NOT_IN = "person_is_not_in"
    GUEST = "guest"
    NOT_AN_ADMIN = "not_an_admin"
    UNSURE = "unsure"


@dataclass(frozen=True)
class NoAccess:
    """Why a person may not see a channel's digest, or not change it; `error` is Slack's word where it does not tell."""

    reason: NoAccessReason
    error: str = ""


class Access:
    """Asks Slack who is in a channel, and who is an admin."""

    def __init__(self, client: AsyncWebClient, is_for_admins: bool) -> None:
        self._client = client
        self._is_for_admins = is_for_admins

    async def refusal(self, channel_id: str, user_id: str, is_change: bool) -> NoAccess | None:
        """Why this person may not see the channel's digest, or not change it; None where they may."""
        if channel_id.startswith("D"):
            return NoAccess(NoAccessReason.DIRECT_MESSAGES)
        try:
            async with asyncio.timeout(_PATIENCE_S):
                return await self._ask(channel_id, user_id, is_change)
        except (SlackApiError, aiohttp.ClientError, TimeoutError) as exc:
            error = slack_word(exc)
            if error == "channel_not_found":
                return NoAccess(NoAccessReason.APP_IS_NOT_IN)
            return NoAccess(NoAccessReason.UNSURE, error)

    async def _ask(self, channel_id: str, user_id: str, is_change: bool) -> NoAccess | None:
        channel = (await self._client.conversations_info(channel=channel_id))["channel"]
        if not channel.get("is_member"):
            return NoAccess(NoAccessReason.APP_IS_NOT_IN)
        if not await self.is_in(channel_id, user_id):
            return NoAccess(NoAccessReason.PERSON_IS_NOT_IN)
        return await self._no_change(user_id) if is_change else None

    async def _no_change(self, user_id: str) -> NoAccess | None:
        user = (await self._client.users_info(user=user_id))["user"]
        if is_guest(user):
            return NoAccess(NoAccessReason.GUEST)
        if self._is_for_admins and not _is_admin(user):
            return NoAccess(NoAccessReason.NOT_AN_ADMIN)
        return None

    async def allows_changes(self, user_id: str) -> bool:
        """Whether this person may change digests at all, of the channels that they are in; if in doubt, no."""
        if not self._is_for_admins:
            return True  # but guests, who are told so where they try
        try:
            async with asyncio.timeout(_PATIENCE_S):
                return await self._no_change(user_id) is None
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
        return _is_admin((await self._client.users_info(user=user_id))["user"])


def _is_admin(user: Mapping[str, Any]) -> bool:
    return bool(user.get("is_admin") or user.get("is_owner"))
