"""`/judge forget`: deletes a case, and says what was deleted."""

from collections.abc import Sequence
from dataclasses import dataclass

import aiohttp
from slack_sdk.errors import SlackApiError

from bot.domain.case import LoggedCase, to_case_id
from bot.extract.invocation import Invocation
from bot.extract.links import parse_permalink
from bot.log.cases import Cases
from bot.slack.teller import Teller
from bot.upkeep.forgetting import ForgettingUpkeep
from bot.views.forgetting import HOW, NOT_NOW, forgotten_text
from bot.views.messages import sentence
from bot.views.obstacles import obstacle_text


class _UnclearError(Exception):
    """Nobody can tell which case is meant; the message is what `views` says to that."""


@dataclass(frozen=True)
class ForgetCommand:
    """Deletes cases for those who may have them deleted.

    Attributes:
        cases: Reads cases.
        forgetting: What deletes them.
        teller: What answers.
        hosts: The workspace's addresses, as far as they are known beforehand.
    """

    cases: Cases
    forgetting: ForgettingUpkeep
    teller: Teller
    hosts: frozenset[str]

    async def answer(self, invocation: Invocation, text: str) -> None:
        """Does what was asked, or says why not, to the person alone."""
        await self.teller.tell(invocation.recipient, sentence(await self._forget(invocation, text)))

    async def _forget(self, invocation: Invocation, text: str) -> str:
        try:
            found = await self._find(invocation, text)
            return forgotten_text(await self.forgetting.forget(found, invocation.user_id))
        except _UnclearError as exc:
            return str(exc)
        except (SlackApiError, aiohttp.ClientError, TimeoutError):
            return NOT_NOW

    async def _find(self, invocation: Invocation, text: str) -> Sequence[LoggedCase]:
        if text.isascii() and text.isdigit():
            number = to_case_id(text)
            case = await self.cases.find(invocation.team_id, number) if number is not None else None
            return [case] if case else []
        link = parse_permalink(text)
        if link is None:
            raise _UnclearError(HOW)
        if obstacle := link.obstacle(self.hosts | invocation.hosts):
            raise _UnclearError(obstacle_text(obstacle))
        return await self.forgetting.linked(invocation.team_id, link.channel_id, link.message_ts, link.parent_ts)
