"""The slash command `/judge`: a window, a link, two texts, or a word."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import Case, Visibility
from bot.domain.refusal import RefusedError
from bot.extract.cases import link_case, texts_case
from bot.extract.commands import Texts, Word, command_text, parse_command
from bot.extract.invocation import Invocation, to_invocation
from bot.extract.links import Permalink
from bot.listeners.choices import Choices
from bot.listeners.intake import Intake
from bot.listeners.texts_modal import TextsModal
from bot.slack import ids
from bot.slack.memberships import MembershipError, Memberships
from bot.slack.mrkdwn import to_plain
from bot.views.help import help_text, not_understood
from bot.views.messages import accepted
from bot.views.obstacles import obstacle_text
from bot.views.refusals import NOT_IN_BOTH, refusal_text, unsure_of_link

Answer = Callable[[Invocation, str], Awaitable[None]]
"""What a word after `/judge` does, given who typed it and what follows it; the person alone is answered."""


@dataclass(frozen=True)
class TypedRequests:
    """Takes in what is asked for by a command.

    Attributes:
        intake: Where cases are taken in.
        choices: What they are judged by.
        memberships: Who is in which channel.
        hosts: The workspace's addresses, as far as they are known beforehand.
    """

    intake: Intake
    choices: Choices
    memberships: Memberships
    hosts: frozenset[str]

    async def score_texts(self, ack: AsyncAck, invocation: Invocation, texts: Texts) -> None:
        """Takes in two typed texts."""
        choice = await self.choices.of(invocation)
        await self._score(ack, invocation, texts_case(invocation, texts.question, texts.response, choice))

    async def score_link(self, ack: AsyncAck, invocation: Invocation, link: Permalink) -> None:
        """Takes in a linked message, if the person is in its channel."""
        found = link.obstacle(self.hosts | invocation.hosts)
        refusal = None if found else await self._not_theirs(invocation, link)
        if refusal:
            await ack(text=refusal)
            return
        choice = await self.choices.of(invocation, link.channel_id)
        await self._score(ack, invocation, link_case(invocation, link, choice, obstacle_text(found) if found else None))

    async def _not_theirs(self, invocation: Invocation, link: Permalink) -> str | None:
        """Why a message is left alone; None where the person is in its channel."""
        if link.channel_id == invocation.channel_id:
            return None
        try:
            is_theirs = await self.memberships.includes(invocation.user_id, link.channel_id)
        except MembershipError as exc:
            return unsure_of_link(exc)
        return None if is_theirs else NOT_IN_BOTH

    async def _score(self, ack: AsyncAck, invocation: Invocation, asked: Case) -> None:
        try:
            case, is_new = await self.intake.take(asked, invocation)
        except RefusedError as exc:
            await ack(text=refusal_text(exc.refusal))
            return
        appears_here = case.message_ts is None and case.visibility is Visibility.THREAD
        if is_new and not appears_here:
            await ack(text=accepted(case))
        else:
            await ack()
        await self.intake.proceed(case, is_new, invocation)


def register(app: AsyncApp, requests: TypedRequests, window: TextsModal, answers: Mapping[str, Answer]) -> None:
    """Connects the command; `answers` are its words, besides `help`."""

    @app.command(ids.COMMAND)
    async def judge(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation, text = to_invocation(body), command_text(body)
        match parse_command(text):
            case None:
                await ack()
                await window.open_here(invocation)
            case Permalink() as link:
                await requests.score_link(ack, invocation, link)
            case Texts() as texts:
                await requests.score_texts(ack, invocation, texts)
            case Word(word="help"):
                await ack(text=help_text(is_direct=invocation.is_direct))
            case Word(word=word, rest=rest) if word in answers:
                await ack()
                await answers[word](invocation, rest)
            case Word():
                await ack(text=not_understood(to_plain(text)))
