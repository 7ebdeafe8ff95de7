"""Reactions that ask for a score: which one does in a channel (`/judge reaction`), and what becomes of it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.async_context import AsyncBoltContext

from bot.docket.lookup import Lookup, OutOfSightError
from bot.domain.case import CaseSource
from bot.extract.invocation import Invocation, to_invocation
from bot.extract.reactions import ADDED, ReactionRequest, parse_reaction, to_reaction
from bot.listeners.event_intake import REFUSALS, Answer, EventIntake
from bot.slack.access import Access
from bot.slack.scopes import READS_REACTIONS
from bot.slack.teller import Teller
from bot.store.digests import ChannelSettings, Digests
from bot.views import reactions as words
from bot.views.messages import sentence
from bot.watching.reactions import Reactions


@dataclass(frozen=True)
class ReactionCommand:
    """Shows and changes a channel's reaction, for those who may change its digest.

    Attributes:
        reactions: Where it is kept.
        digests: Where a channel's settings are read.
        access: Who may see and change it.
        teller: What answers.
        scopes: What the app was granted.
    """

    reactions: Reactions
    digests: Digests
    access: Access
    teller: Teller
    scopes: frozenset[str]

    async def answer(self, invocation: Invocation, text: str) -> None:
        """Does what was asked, or says why not, to the person alone."""
        try:
            request = parse_reaction(text)
        except ValueError as exc:
            await self._tell(invocation, words.not_understood(str(exc)))
            return
        is_change = request.action != "state"
        if refusal := await self.access.refusal(invocation.channel_id, invocation.user_id, is_change):
            await self._tell(invocation, words.no_access_text(refusal))
            return
        settings = await self.digests.channel(invocation.team_id, invocation.channel_id)
        await self._tell(invocation, await self._do(invocation, request, settings))

    async def _do(self, invocation: Invocation, request: ReactionRequest, settings: ChannelSettings) -> str:
        is_told = READS_REACTIONS in self.scopes
        if request.action == "set" and not is_told:
            return words.NOT_TOLD
        if request.action != "state":
            settings = replace(settings, score_reaction=request.emoji or None)
            await self.reactions.save(settings, invocation.user_id)
        return words.state(settings.score_reaction, is_told=is_told)

    async def _tell(self, invocation: Invocation, text: str) -> None:
        await self.teller.tell(invocation.recipient, sentence(text))


@dataclass(frozen=True)
class ScoreReactions:
    """Takes in the replies under which somebody has put a channel's reaction.

    Attributes:
        events: Where what events ask for is taken in.
        lookup: Reads the message, of which Slack tells only where it stands.
        own_ids: The app's own user and bot id; its messages are not scored.
    """

    events: EventIntake
    lookup: Lookup
    own_ids: frozenset[str]

    async def take(self, invocation: Invocation, ts: str) -> Answer | None:
        """Takes in the case that is asked for; it is durable on return. None where nothing is said, as to bots.

        Raises:
            SlackApiError, ClientError, TimeoutError: Slack cannot be asked now; it sends the reaction once more.
        """
        if await self.events.intake.members.is_known_bot(invocation.user_id):
            return None
        try:
            self.events.intake.check_here(invocation)
            message = await self.lookup.message_anywhere(invocation.channel_id, ts)
            if message is None:
                raise OutOfSightError
            if message.author_id in self.own_ids:
                return None
            invocation = replace(invocation, thread_ts=message.parent_ts)
            return await self.events.take(invocation, message, CaseSource.REACTION)
        except REFUSALS as exc:
            return self.events.refuses(invocation, exc)


def register(app: AsyncApp, scoring: ScoreReactions) -> None:
    """Connects the reactions that ask for a score; all others were taken in before (`ChannelEvents`)."""

    async def take_in(body: dict[str, Any], context: AsyncBoltContext, next_: Callable[[], Awaitable[None]]) -> None:
        if reaction := to_reaction(body):
            answer = await scoring.take(to_invocation(body), reaction.ts)
            if answer and scoring.events.is_first((reaction.channel_id, reaction.ts, reaction.user_id, reaction.at)):
                context["answer"] = answer
        await next_()

    @app.event(ADDED, middleware=[take_in])
    async def reply(context: AsyncBoltContext) -> None:
        if answer := context.get("answer"):
            await answer()
