"""Who wrote the responses: names, and whether they are bots."""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.cache import AnswerCache
from bot.slack.errors import slack_word

SLACKBOT = "USLACKBOT"
"""Slack's own bot, of which Slack says that it is none (bolt-js#794)."""
_KEPT_S = 3600.0
_PATIENCE_S = 1.5  # whoever asked waits for Slack, which waits for 3 s
_MOST_KEPT = 10_000
_ASKED_AT_ONCE = 8

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Member:
    """A bot or a person, by the name that Slack shows."""

    name: str
    is_bot: bool


class Members:
    """Asks Slack about each author once an hour; whom it does not know is taken for a person, and so is not ranked."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._known = AnswerCache(self._ask, _KEPT_S, _MOST_KEPT)

    async def of_all(self, author_ids: Iterable[str], patience_s: float) -> Mapping[str, Member]:
        """The members behind these ids, asked about in this order; without those that nothing is known of in time."""
        found: dict[str, Member] = {}
        left = iter(author_ids)

        async def ask() -> None:
            for author_id in left:
                found[author_id] = await self.of(author_id)

        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                await asyncio.gather(*(ask() for _ in range(_ASKED_AT_ONCE)))
        return found

    async def is_known_bot(self, author_id: str) -> bool:
        """Whether Slack says in time that this is a bot."""
        found = await self.of_all([author_id], _PATIENCE_S)
        return author_id in found and found[author_id].is_bot

    async def of(self, author_id: str) -> Member:
        """The member behind a user id or a bot id."""
        try:
            return await self._known.get(author_id)
        except (SlackApiError, aiohttp.ClientError, TimeoutError) as exc:
            logger.warning("author_unknown", author=author_id, error=slack_word(exc))
            return Member(author_id, is_bot=False)

    async def _ask(self, author_id: str) -> Member:
        if author_id.startswith("B"):
            bot = (await self._client.bots_info(bot=author_id))["bot"]
            return Member(bot.get("name") or author_id, is_bot=True)
        user = (await self._client.users_info(user=author_id))["user"]
        profile = user.get("profile") or {}
        name = profile.get("display_name") or user.get("real_name") or user.get("name") or author_id
        return Member(name, author_id == SLACKBOT or bool(user.get("is_bot")))
