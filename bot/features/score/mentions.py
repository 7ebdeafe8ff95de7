"""Whoever speaks to the app: "score this" scores the message above; anything else gets a line of help, with buttons."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_bolt.context.async_context import AsyncBoltContext

from bot.domain.case import CaseSource
from bot.feature import Services
from bot.features.score.command import NOTHING_ABOVE, help_line, help_text
from bot.features.score.handlers import TextsModal
from bot.pipeline.intake import REFUSALS, Answer, EventIntake
from bot.pipeline.lookup import Lookup
from bot.pipeline.text import sentence
from bot.slack import ids
from bot.slack.commands import Texts, parse_command
from bot.slack.invocation import Invocation, to_invocation
from bot.slack.members import SLACKBOT
from bot.slack.messages import Permalink, asks_for_score

Raw = dict[str, Any]

_PERSONS_WORDS = {None, "file_share", "thread_broadcast"}
# An edited mention is sent once more: https://github.com/slack-go/slack/pull/1256
_NOT_SAID_NOW = ("bot_id", "bot_profile", "app_id", "edited", "hidden")


@dataclass(frozen=True)
class Mention:
    """What a person says to the app: who and where, the message's `ts`, and whether it asks for a score.

    `lacks_command` is whether it would, in direct messages, with `/judge` before it.
    """

    invocation: Invocation
    ts: str
    asks_for_score: bool
    lacks_command: bool


def to_mention(body: Raw, own_ids: Collection[str]) -> Mention | None:
    """What a person says to the app; None for bots and ourselves, edits, joins, and what others say to each other.

    Source: https://docs.slack.dev/reference/events/app_mention, https://docs.slack.dev/reference/events/message.im
    """
    event = body["event"]
    is_direct = event.get("channel_type") == "im"
    if event["type"] != "app_mention" and not is_direct:
        return None
    is_said = event.get("subtype") in _PERSONS_WORDS and not any(event.get(mark) for mark in _NOT_SAID_NOW)
    if not is_said or event.get("user") in {None, SLACKBOT, *own_ids}:
        return None
    text = event.get("text") or ""
    asks = not is_direct and asks_for_score(text)
    lacks_command = is_direct and isinstance(parse_command(text), Texts | Permalink)
    return Mention(to_invocation(body), event["ts"], asks, lacks_command)


@dataclass(frozen=True)
class Mentions:
    """Answers whoever speaks to the app, each message once.

    Attributes:
        events: Where what they ask for is taken in.
        lookup: Finds the message that is meant.
        own_ids: The app's own user and bot id.
    """

    events: EventIntake
    lookup: Lookup
    own_ids: frozenset[str]

    async def take(self, mention: Mention) -> Answer:
        """Takes in the case that is asked for, if one is; it is durable on return.

        Raises:
            SlackApiError, ClientError, TimeoutError: Slack cannot be asked now; it sends the message once more.
        """
        invocation = mention.invocation
        if not mention.asks_for_score:
            line = help_line(is_direct=invocation.is_direct, lacks_command=mention.lacks_command)
            return self.events.says(invocation, line)
        try:
            self.events.intake.check_here(invocation)
            message = await self.lookup.above(invocation, mention.ts)
            if message is None:
                return self.events.says(invocation, sentence(NOTHING_ABOVE))
            return await self.events.take(invocation, message, CaseSource.MENTION)
        except REFUSALS as exc:
            return self.events.refuses(invocation, exc)

    def is_first(self, mention: Mention) -> bool:
        """Whether a message is not answered yet, and is from now on."""
        return self.events.is_first((mention.invocation.channel_id, mention.ts))


def register(app: AsyncApp, mentions: Mentions, window: TextsModal, services: Services) -> None:
    """Connects mentions, direct messages, and the buttons of the answer."""

    async def is_to_us(body: dict[str, Any]) -> bool:
        return to_mention(body, mentions.own_ids) is not None

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
        said = sentence(help_text(services, is_direct=to_invocation(body).is_direct))
        await respond(text=said.text, blocks=said.blocks, replace_original=True)
