"""Whoever speaks to the app: "score this" scores the message above; anything else gets a line of help, with buttons."""

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_bolt.context.async_context import AsyncBoltContext

from bot.docket.lookup import Lookup, MayNotReadError, OutOfSightError
from bot.domain.case import CaseSource
from bot.domain.obstacle import Obstacle, ObstacleKind
from bot.domain.refusal import RefusedError
from bot.extract.cases import message_case
from bot.extract.invocation import Invocation, to_invocation
from bot.extract.mentions import Mention, to_mention
from bot.listeners.choices import Choices
from bot.listeners.intake import Intake
from bot.listeners.texts_modal import TextsModal
from bot.slack import ids
from bot.slack.post import Post
from bot.slack.teller import Teller
from bot.views.help import NOTHING_ABOVE, help_line, help_text
from bot.views.messages import sentence
from bot.views.obstacles import obstacle_text
from bot.views.refusals import refusal_text

_REMEMBERED = 1000
_NAME_WITHIN_S = 0.5

Answer = Callable[[], Awaitable[object]]
"""Says what a person is to be told, if anything, once Slack has been told that all is well."""


@dataclass(frozen=True)
class Mentions:
    """Answers whoever speaks to the app, each message once.

    Attributes:
        intake: Where cases are taken in.
        choices: What they are judged by.
        lookup: Finds the message that is meant.
        teller: What answers.
        own_ids: The app's own user and bot id.
    """

    intake: Intake
    choices: Choices
    lookup: Lookup
    teller: Teller
    own_ids: frozenset[str]
    _answered: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))

    async def take(self, mention: Mention) -> Answer:
        """Takes in the case that is asked for, if one is; it is durable on return.

        Raises:
            SlackApiError, ClientError, TimeoutError: Slack cannot be asked now; it sends the message once more.
        """
        if not mention.asks_for_score:
            line = help_line(is_direct=mention.invocation.is_direct, lacks_command=mention.lacks_command)
            return self._says(mention.invocation, line)
        try:
            return await self._score(mention)
        except RefusedError as exc:
            said = refusal_text(exc.refusal)
        except MayNotReadError:
            said = obstacle_text(Obstacle(ObstacleKind.MAY_NOT_READ))
        except OutOfSightError:
            said = obstacle_text(Obstacle(ObstacleKind.GONE))
        return self._says(mention.invocation, sentence(said))

    def is_first(self, mention: Mention) -> bool:
        """Whether a message is not answered yet, and is from now on: Slack may send it more than once."""
        key = mention.invocation.channel_id, mention.ts
        if key in self._answered:
            return False
        self._answered.append(key)
        return True

    async def _score(self, mention: Mention) -> Answer:
        self.intake.check_here(mention.invocation)
        message = await self.lookup.above(mention.invocation, mention.ts)
        if message is None:
            return self._says(mention.invocation, sentence(NOTHING_ABOVE))
        invocation = await self._named(mention.invocation)
        obstacle = obstacle_text(message.obstacle) if message.obstacle else None
        choice = await self.choices.of(invocation)
        asked = message_case(invocation, message, choice, obstacle, CaseSource.MENTION)
        case, is_new = await self.intake.take(asked, invocation)
        return partial(self.intake.proceed, case, is_new, invocation)

    async def _named(self, invocation: Invocation) -> Invocation:
        """With the person's name, which an event does not tell."""
        found = await self.intake.members.of_all([invocation.user_id], _NAME_WITHIN_S)
        return replace(invocation, user_name=member.name) if (member := found.get(invocation.user_id)) else invocation

    def _says(self, invocation: Invocation, post: Post) -> Answer:
        return partial(self.teller.tell, invocation.recipient, post)


def register(app: AsyncApp, mentions: Mentions, window: TextsModal) -> None:
    """Connects mentions, direct messages, and the buttons of the answer."""

    async def is_to_us(body: dict[str, Any]) -> bool:
        return to_mention(body, mentions.own_ids) is not None

    # As middleware: Bolt acknowledges an event before its listener runs, and what is not acknowledged comes again.
    async def take_in(body: dict[str, Any], context: AsyncBoltContext, next_: Callable[[], Awaitable[None]]) -> None:
        if mention := to_mention(body, mentions.own_ids):
            answer = await mentions.take(mention)
            if mentions.is_first(mention):
                context["answer"] = answer
        await next_()

    @app.event("message", matchers=[is_to_us], middleware=[take_in])
    @app.event("app_mention", middleware=[take_in])
    async def reply(context: AsyncBoltContext) -> None:
        if answer := context.get("answer"):
            await answer()

    @app.action(ids.ACTION_OPEN_WINDOW)
    async def open_window(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await window.open_here(to_invocation(body))

    @app.action(ids.ACTION_HELP)
    async def show_help(ack: AsyncAck, body: dict[str, Any], respond: AsyncRespond) -> None:
        await ack()
        said = sentence(help_text(is_direct=to_invocation(body).is_direct))
        await respond(text=said.text, blocks=said.blocks, replace_original=True)
