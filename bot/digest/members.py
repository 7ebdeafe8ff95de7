"""Who wrote the responses: names, and whether they are bots."""

from dataclasses import dataclass

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Member:
    """A bot or a person, by the name that Slack shows."""

    name: str
    is_bot: bool


class Members:
    """Asks Slack about each author once; whom it does not know is taken for a person, and so is not ranked."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._known: dict[str, Member] = {}

    async def of(self, author_id: str) -> Member:
        """The member behind a user id or a bot id."""
        if author_id not in self._known:
            try:
                self._known[author_id] = await self._ask(author_id)
            except SlackApiError as exc:
                logger.warning("author_unknown", author=author_id, error=exc.response.get("error"))
                return Member(author_id, is_bot=False)
        return self._known[author_id]

    async def _ask(self, author_id: str) -> Member:
        if author_id.startswith("B"):
            bot = (await self._client.bots_info(bot=author_id))["bot"]
            return Member(bot.get("name") or author_id, is_bot=True)
        user = (await self._client.users_info(user=author_id))["user"]
        profile = user.get("profile") or {}
        name = profile.get("display_name") or user.get("real_name") or user.get("name") or author_id
        return Member(name, bool(user.get("is_bot")))
