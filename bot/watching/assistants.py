"""Which assistants there are to watch: the bots that are in a channel, or have written there lately."""

from collections.abc import Iterable, Mapping

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.authors import Members

_LATEST = 200
_MOST_MEMBERS = 100
_PATIENCE_S = 3.0


class Assistants:
    """Reads in a channel who answers there.

    Args:
        client: The bot's Web API client.
        members: Who is a bot.
        own_ids: The app's own ids; it does not score itself.
    """

    def __init__(self, client: AsyncWebClient, members: Members, own_ids: frozenset[str]) -> None:
        self._client = client
        self._members = members
        self._own_ids = own_ids

    async def listed(self, channel_id: str) -> Mapping[str, str]:
        """The names of the bots that wrote lately in a channel, by id, and where none did, of those that are in it.

        Raises:
            SlackApiError, ClientError, TimeoutError: Slack does not let us read, or not now.
        """
        return await self._bots(await self._writers(channel_id)) or await self._members_of(channel_id)

    async def called(self, channel_id: str, name: str) -> Mapping[str, str]:
        """The names of the bots of a channel, by id: those that wrote lately, and where none is called so, all members.

        Raises:
            SlackApiError, ClientError, TimeoutError: Slack does not let us read, or not now.
        """
        found = await self._bots(await self._writers(channel_id))
        if not any(is_named(name, author_id, found) for author_id in found):
            found |= await self._members_of(channel_id)
        return found

    async def _members_of(self, channel_id: str) -> dict[str, str]:
        answer = await self._client.conversations_members(channel=channel_id, limit=_MOST_MEMBERS)
        return await self._bots(answer.get("members") or [])

    async def _writers(self, channel_id: str) -> Iterable[str]:
        """Who wrote among a channel's latest messages and in their threads, of which Slack names up to five each."""
        answer = await self._client.conversations_history(channel=channel_id, limit=_LATEST)
        wrote: dict[str, None] = {}
        for raw in answer.get("messages") or []:
            if raw.get("bot_id"):
                wrote[raw.get("user") or raw["bot_id"]] = None
            wrote |= dict.fromkeys(raw.get("reply_users") or [])
        return wrote

    async def _bots(self, ids: Iterable[str]) -> dict[str, str]:
        found = await self._members.of_all([each for each in ids if each not in self._own_ids], _PATIENCE_S)
        return {author_id: member.name for author_id, member in found.items() if member.is_bot}


def is_named(name: str, author_id: str, names: Mapping[str, str]) -> bool:
    """Whether an assistant is meant by what was typed: its name, or its id."""
    return name.lower() in {author_id.lower(), names[author_id].lower()}
