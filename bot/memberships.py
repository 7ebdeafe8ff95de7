"""Which channels somebody is in, as Slack says: what decides whether they may see anything of a channel."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.trouble import slack_word

KEPT_S = 300.0
_PATIENCE_S = 2.0
MOST_KEPT = 1000
_TYPES = "public_channel,private_channel,mpim"
_PAGE = 999  # the most: https://docs.slack.dev/reference/methods/users.conversations


class MembershipError(Exception):
    """Slack does not say which channels somebody is in; its words are the reason in short."""


@dataclass(frozen=True)
class Listed:
    """A channel as Slack lists it; group direct messages count as private channels."""

    name: str
    is_private: bool


@dataclass
class _Answer:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    channels: Mapping[str, Listed] = field(default_factory=dict)
    good_until_s: float = 0.0


class Memberships:
    """Remembers for some minutes who is in which channel; whoever leaves one may see its figures for that long.

    What leads to a message or a case is asked anew each time.

    Args:
        client: The bot's Web API client.
        clock: Seconds that never go back.
    """

    def __init__(self, client: AsyncWebClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._clock = clock
        self._answers: dict[str | None, _Answer] = {}

    async def of(self, user_id: str | None = None) -> Mapping[str, Listed]:
        """Channels by id: public ones that this person is in, private ones that we are in, too.

        Without a person, the channels that we are in. Who asks for the same person at the same time shares one call.

        Raises:
            MembershipError: Slack does not say, or not in time.
        """
        answer = self._answers[user_id] = self._answers.pop(user_id, _Answer())
        if len(self._answers) > MOST_KEPT:
            del self._answers[next(iter(self._answers))]
        try:
            async with asyncio.timeout(_PATIENCE_S), answer.lock:
                if self._clock() >= answer.good_until_s:
                    answer.channels = await list_channels(self._client, user_id)
                    answer.good_until_s = self._clock() + KEPT_S
        except (SlackApiError, aiohttp.ClientError, TimeoutError) as exc:
            raise MembershipError(slack_word(exc)) from exc
        return answer.channels

    async def includes(self, user_id: str | None, channel_id: str) -> bool:
        """Whether the person is in the channel, asked of Slack anew: they may have joined or left just now.

        Raises:
            MembershipError: Slack does not say, or not in time.
        """
        self._answers.pop(user_id, None)
        return channel_id in await self.of(user_id)

    async def keeps_out(self, user_id: str, channel_id: str, has_looked: bool = False) -> bool:
        """Whether we are in this channel and the person is not, asked of Slack anew.

        Where we are not, there is nothing that we could read or write. Direct messages are each person's own; Slack
        does not list them.

        Args:
            user_id: The person.
            channel_id: Any channel.
            has_looked: They have clicked in it before. Public channels can be looked at without joining, so that
                only a private one keeps them out.

        Raises:
            MembershipError: Slack does not say, or not in time.
        """
        if channel_id.startswith("D"):
            return False
        try:
            async with asyncio.timeout(_PATIENCE_S):
                if await self.includes(user_id, channel_id) or not await self.includes(None, channel_id):
                    return False
                return not has_looked or (await self.of())[channel_id].is_private
        except TimeoutError as exc:
            raise MembershipError("no answer") from exc


async def list_channels(client: AsyncWebClient, user_id: str | None = None) -> Mapping[str, Listed]:
    """By id, the channels and group direct messages that a person is in and we may know of; without a person, ours.

    Archived ones and direct messages are left out.

    Raises:
        SlackApiError: Slack does not say.

    Source: https://docs.slack.dev/reference/methods/users.conversations
    """
    found: dict[str, Listed] = {}
    cursor = ""
    while True:
        page = await client.users_conversations(
            types=_TYPES, exclude_archived=True, limit=_PAGE, cursor=cursor, user=user_id
        )
        found |= {channel["id"]: _to_listed(channel) for channel in page["channels"]}
        cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
        if not cursor:
            return found


def _to_listed(channel: Mapping[str, Any]) -> Listed:
    return Listed(
        channel.get("name") or channel["id"], channel.get("is_private", True) or channel.get("is_mpim", False)
    )
