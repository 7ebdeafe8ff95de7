"""Which workspace somebody is from, where Slack's payload does not say."""

import asyncio

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.cache import AnswerCache

_KEPT_S = 86_400.0
_MOST_KEPT = 10_000
_PATIENCE_S = 2.0


class Homes:
    """Asks Slack about each person once a day."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._known = AnswerCache(self._ask, _KEPT_S, _MOST_KEPT)

    async def of(self, user_id: str) -> str:
        """The id of the team that a person belongs to.

        Raises:
            SlackApiError, aiohttp.ClientError, TimeoutError: Slack does not say, or not in time.
        """
        return await self._known.get(user_id)

    async def _ask(self, user_id: str) -> str:
        async with asyncio.timeout(_PATIENCE_S):
            return str((await self._client.users_info(user=user_id))["user"]["team_id"])
