"""`/judge forget`: deletes a case, or asks and then forgets a person's own words, and says what was done."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp
import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.errors import SlackApiError

from bot.domain.case import LoggedCase, to_case_id
from bot.extract.clicks import clicked_value
from bot.extract.invocation import Invocation, to_invocation
from bot.extract.links import parse_permalink
from bot.log.cases import Cases
from bot.slack import ids
from bot.slack.post import Post
from bot.slack.teller import Teller
from bot.upkeep.forgetting import ForgettingUpkeep
from bot.views.forgetting import (
    HOW,
    NO_WORDS,
    NOT_NOW,
    ask_first,
    forgotten_text,
    own_words_forgotten_text,
    own_words_text,
)
from bot.views.messages import sentence
from bot.views.obstacles import obstacle_text

ME = "me"

logger = structlog.get_logger(__name__)


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
        """Does what was asked, asks first, or says why not, to the person alone."""
        is_own = text.lower() == ME
        post = await self._ask(invocation) if is_own else sentence(await self._forget(invocation, text))
        await self.teller.tell(invocation.recipient, post)

    async def confirmed(self, invocation: Invocation, what: str) -> Post:
        """Does what a person has pressed the button for, and says what was done; whose words is not for it to say."""
        if what != ME:
            return sentence(HOW)
        gone = await self.forgetting.forget_person(invocation.team_id, invocation.user_id)
        return sentence(own_words_forgotten_text(gone) if gone else NO_WORDS)

    async def _ask(self, invocation: Invocation) -> Post:
        words = await self.forgetting.own_words.count(invocation.team_id, invocation.user_id)
        return ask_first(own_words_text(words), "Forget my words", ME) if words else sentence(NO_WORDS)

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


def register(app: AsyncApp, command: ForgetCommand) -> None:
    """Connects the button that goes ahead."""

    @app.action(ids.ACTION_FORGET)
    async def go_ahead(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        invocation = to_invocation(body)
        said = await command.confirmed(invocation, clicked_value(body))
        if not await command.teller.replace(invocation.response_url, said):
            await command.teller.tell(invocation.recipient, said)
