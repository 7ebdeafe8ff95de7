"""Notes the names of channels and assistants, for those who read the store without Slack."""

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.case import LoggedCase
from bot.domain.shared import AnswerCache
from bot.domain.watch import is_channel
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
        self._noted = AnswerCache(self._note, kept_s=_DAY_S, most=10_000)

    async def note(self, case: LoggedCase) -> None:
        """Notes the names of a case's channel and assistant; without Slack, it does so later."""
        if case.message_ts is None or case.channel_id.startswith("D"):
            return  # in no figure
        try:
            await self._noted.get((case.team_id, case.channel_id))
            if case.author_id:
                await self._noted.get((case.team_id, case.author_id))
        except (*SLACK_ERRORS, *STORE_ERRORS) as exc:
            logger.info("name_not_noted", case=case.id, reason=in_brief(exc))

    async def _note(self, key: tuple[str, str]) -> None:
        team_id, id_ = key
        if not is_channel(id_):
            member = await self._members.of(id_)
            name = member.name if member.is_bot else None
        else:
            answer = await unless_refused(self._client.conversations_info(channel=id_))
            channel = answer["channel"] if answer else {}
            # A group's name is made of people's names.
            name = None if channel.get("is_mpim") else channel.get("name")
        if name:
            await self._names.note(team_id, id_, name)
