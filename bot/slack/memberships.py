"""Which channels somebody is in, as Slack says: what decides whether they may see anything of a channel."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.cache import AnswerCache
from bot.slack.errors import slack_word

KEPT_S = 300.0
_PATIENCE_S = 2.0
MOST_KEPT = 1000
_TYPES = "public_channel,private_channel,mpim"
_PAGE = 999  # the most: https://docs.slack.dev/reference/methods/users.conversations


class MembershipError(Exception):
    """Slack does not say which channels somebody is in; its word for why is the message."""


@dataclass(frozen=True)
class Listed:
    """A channel as Slack lists it; group direct messages count as private channels."""

    name: str
    is_private: bool
    is_archived: bool


class Memberships:
    """Remembers for some minutes who is in which channel; whoever leaves one may see its figures for that long.

    What leads to a message or a case is asked anew each time.

    Args:
        client: The bot's Web API client.
        clock: Seconds that never go back.
    """

    def __init__(self, client: AsyncWebClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._channels = AnswerCache(self._list, KEPT_S, MOST_KEPT, clock)

    async def of(self, user_id: str | None = None) -> Mapping[str, Listed]:
        """Channels by id: public ones that this person is in, private ones that we are in, too; no archived ones.

        Without a person, the channels that we are in. Who asks for the same person at the same time shares one call.

        Raises:
            MembershipError: Slack does not say, or not in time.
        """
        listed = await self._channels.get(user_id)
        return {channel_id: channel for channel_id, channel in listed.items() if not channel.is_archived}

    async def includes(self, user_id: str, channel_id: str) -> bool:
        """Whether the person is in the channel, archived or not, asked of Slack anew: they may have left just now.

        Raises:
            MembershipError: Slack does not say, or not in time.
        """
        return channel_id in await self.now(user_id)

    async def now(self, user_id: str | None) -> Mapping[str, Listed]:
        """The person's channels as `of`, and archived ones, asked of Slack anew.

        Raises:
            MembershipError: Slack does not say, or not in time.
        """
        self._channels.forget(user_id)
        return await self._channels.get(user_id)

    async def keeps_out(self, user_id: str, channel_id: str) -> bool:
        """Whether we are in this channel and the person may not look into it, asked of Slack anew.

        Where we are not, there is nothing that we could read. Direct messages are each person's own; Slack does not
        list them. A public channel is open to all but guests.

        Raises:
            MembershipError: Slack does not say, or not in time.
        """
        if channel_id.startswith("D"):
            return False
        try:
            async with asyncio.timeout(_PATIENCE_S):
                if await self.includes(user_id, channel_id):
                    return False
                ours = (await self.now(None)).get(channel_id)
                return ours is not None and (ours.is_private or await self._is_guest(user_id))
        except (SlackApiError, aiohttp.ClientError, TimeoutError) as exc:
            raise MembershipError(slack_word(exc)) from exc

    async def _list(self, user_id: str | None) -> Mapping[str, Listed]:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                return await list_channels(self._client, user_id)
        except (SlackApiError, aiohttp.ClientError, TimeoutError) as exc:
            raise MembershipError(slack_word(exc)) from exc

    async def _is_guest(self, user_id: str) -> bool:
        return is_guest((await self._client.users_info(user=user_id))["user"])


def is_guest(user: Mapping[str, Any]) -> bool:
    """Whether somebody is in the workspace for some channels alone."""
    return bool(user.get("is_restricted") or user.get("is_ultra_restricted"))


async def list_channels(client: AsyncWebClient, user_id: str | None = None) -> Mapping[str, Listed]:
    """By id, the channels and group direct messages that a person is in and we may know of; without a person, ours.

    Raises:
        SlackApiError: Slack does not say.

    Source: https://docs.slack.dev/reference/methods/users.conversations
    """
    found: dict[str, Listed] = {}
    async for page in await client.users_conversations(types=_TYPES, limit=_PAGE, user=user_id):
        found |= {channel["id"]: _to_listed(channel) for channel in page["channels"]}
    return found


def _to_listed(channel: Mapping[str, Any]) -> Listed:
    return Listed(
        channel.get("name") or channel["id"],
        is_private=bool(channel.get("is_private", True) or channel.get("is_mpim")),
        is_archived=bool(channel.get("is_archived")),
    )
