"""`/judge forget`: quotes what it would delete, asks, and then says what was done."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp
import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.errors import SlackApiError

from bot.domain.blocker import blocker_text
from bot.domain.case import LoggedCase, to_case_id
from bot.features.privacy.forgetting import ForgettingUpkeep
from bot.features.privacy.text import (
    HOW,
    NO_WORDS,
    NOT_NOW,
    ask_first,
    ask_for_cases,
    forgotten_text,
    personal_data_forgotten_text,
    personal_data_text,
)
from bot.pipeline.own_cases import OwnCases
from bot.pipeline.text import sentence
from bot.slack import ids
from bot.slack.invocation import Invocation, clicked_value, to_invocation
from bot.slack.messages import parse_permalink
from bot.slack.messenger import Messenger, Post
from bot.store.cases import Cases

ME = "me"
_MOST = 150  # whose numbers have room in a button
_QUOTED = 10

logger = structlog.get_logger(__name__)


class _UnclearError(Exception):
    """Nobody can tell which case is meant; the message is what `views` says to that."""


@dataclass(frozen=True)
class ForgetCommand:
    """Deletes cases for those who may have them deleted."""

    cases: Cases
    forgetting: ForgettingUpkeep
    messenger: Messenger
    own_cases: OwnCases
    hosts: frozenset[str]
    workspace_url: str

    async def answer(self, invocation: Invocation, text: str) -> None:
        post = await (self._ask_for_words(invocation) if text.lower() == ME else self._ask(invocation, text))
        await self.messenger.tell(invocation.recipient, post)

    async def confirmed(self, invocation: Invocation, what: str) -> Post:
        """Does what a person has pressed the button for, and says what was done.

        Whose words are meant is not for the button to say, nor who may delete a case.
        """
        if what != ME:
            return await self._forget(invocation, [to_case_id(number) for number in what.split(",")[:_MOST]])
        gone = await self.forgetting.forget_person(invocation.team_id, invocation.user_id)
        return sentence(personal_data_forgotten_text(gone) if gone else NO_WORDS)

    async def _ask_for_words(self, invocation: Invocation) -> Post:
        words = await self.forgetting.personal_data.count(invocation.team_id, invocation.user_id)
        return ask_first(personal_data_text(words), "Forget my words", ME) if words else sentence(NO_WORDS)

    async def _ask(self, invocation: Invocation, text: str) -> Post:
        try:
            found = await self._find(invocation, text)
            theirs, stays = await self.forgetting.foresee(found, invocation.user_id)
        except _UnclearError as exc:
            return sentence(str(exc))
        except (SlackApiError, aiohttp.ClientError, TimeoutError):
            return sentence(NOT_NOW)
        numbers = [case.id for case in theirs[:_MOST]]
        if not numbers:
            return sentence(forgotten_text(stays))
        seen = await self.cases.numbered(invocation.team_id, numbers[:_QUOTED])
        quoted = await self.own_cases.listed(seen, invocation.user_id, invocation.channel_id)
        return ask_for_cases(numbers, quoted, stays, self.workspace_url)

    async def _forget(self, invocation: Invocation, numbers: Sequence[int | None]) -> Post:
        if None in numbers:
            return sentence(HOW)
        named = [await self.cases.find(invocation.team_id, number) for number in numbers if number is not None]
        try:
            gone = await self.forgetting.forget([case for case in named if case], invocation.user_id)
        except (SlackApiError, aiohttp.ClientError, TimeoutError):
            return sentence(NOT_NOW)
        return sentence(forgotten_text(gone))

    async def _find(self, invocation: Invocation, text: str) -> Sequence[LoggedCase]:
        if text.isascii() and text.isdigit():
            number = to_case_id(text)
            case = await self.cases.find(invocation.team_id, number) if number is not None else None
            return [case] if case else []
        link = parse_permalink(text)
        if link is None:
            raise _UnclearError(HOW)
        if blocker := link.blocker(self.hosts | invocation.hosts):
            raise _UnclearError(blocker_text(blocker))
        return await self.forgetting.linked(invocation.team_id, link.channel_id, link.message_ts, link.parent_ts)


def register(app: AsyncApp, command: ForgetCommand) -> None:
    @app.action(ids.ACTION_FORGET)
    async def go_ahead(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        invocation = to_invocation(body)
        said = await command.confirmed(invocation, clicked_value(body))
        if not await command.messenger.replace(invocation.response_url, said):
            await command.messenger.tell(invocation.recipient, said)
