"""Notes the names of channels and assistants, for those who read the store without Slack."""

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.case import LoggedCase
from bot.domain.shared import AnswerCache
from bot.pipeline.retries import in_brief
from bot.slack.client import SLACK_ERRORS, unless_refused
from bot.slack.members import Members
from bot.store import names as store_names
from bot.store.errors import STORE_ERRORS

_DAY_S = 86_400.0

logger = structlog.get_logger(__name__)


class Names:
    """Asks Slack for each name once a day."""

    def __init__(self, client: AsyncWebClient, members: Members, names: store_names.Names) -> None:
        self._client = client
        self._members = members
        self._names = names
        self._channels = AnswerCache(self._note_channel, kept_s=_DAY_S, most=10_000)
        self._assistants = AnswerCache(self._note_assistant, kept_s=_DAY_S, most=10_000)

    async def note(self, case: LoggedCase) -> None:
        """Notes the names of a case's channel and assistant; without Slack, it does so later."""
        if case.message_ts is None or case.channel_id.startswith("D"):
            return  # in no figure
        try:
            await self._channels.get((case.team_id, case.channel_id))
            if case.author_id:
                await self._assistants.get((case.team_id, case.author_id))
        except (*SLACK_ERRORS, *STORE_ERRORS) as exc:
            logger.info("name_not_noted", case=case.id, reason=in_brief(exc))

    async def _note_channel(self, key: tuple[str, str]) -> None:
        team_id, channel_id = key
        answer = await unless_refused(self._client.conversations_info(channel=channel_id))
        # A group's name is made of people's names.
        if answer and not answer["channel"].get("is_mpim"):
            await self._names.note(team_id, channel_id, answer["channel"]["name"])

    async def _note_assistant(self, key: tuple[str, str]) -> None:
        team_id, author_id = key
        member = await self._members.of(author_id)
        if member.is_bot:
            await self._names.note(team_id, author_id, member.name)
