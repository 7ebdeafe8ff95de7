"""Reactions that ask for a score: which one does in a channel (`/judge reaction`), and what becomes of it."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.async_context import AsyncBoltContext

from bot.domain.case import CaseSource
from bot.domain.label import Reaction
from bot.pipeline.intake import REFUSALS, Answer, EventIntake
from bot.pipeline.lookup import Lookup, OutOfSightError
from bot.pipeline.text import sentence
from bot.slack.access import Access, NoAccess, NoAccessReason
from bot.slack.client import READS_REACTIONS
from bot.slack.invocation import Invocation, to_invocation
from bot.slack.members import AnswerCache
from bot.slack.messages import ADDED, to_reaction
from bot.slack.messenger import Messenger
from bot.slack.mrkdwn import THUMBS, emoji_of, escape
from bot.store.digests import ChannelSettings, Digests, Thumbs

Raw = dict[str, Any]


_LONGEST = 80
# Slack's own names, and those that workspaces give: up to 100 characters, of any alphabet, in lower case.
_EMOJI = re.compile(r":(?!skin-tone-)(?P<name>[\w+'-]{1,100}):(:skin-tone-[2-6]:)?")


@dataclass(frozen=True)
class ReactionRequest:
    """What `/judge reaction` is to do; `emoji` is the one that is to ask for a score."""

    action: Literal["state", "set", "off"]
    emoji: str = ""


def parse_reaction(text: str) -> ReactionRequest:
    """The request in what follows `/judge reaction`.

    Raises:
        ValueError: It is none; the message says what is wrong.
    """
    typed = text.strip().lower()
    if not typed:
        return ReactionRequest("state")
    if typed == "off":
        return ReactionRequest("off")
    if found := _EMOJI.fullmatch(typed):
        return ReactionRequest("set", emoji_of(found["name"]))
    raise ValueError(f"I do not know {text[:_LONGEST]!r}")


NOT_TOLD = (
    "Slack does not tell me of reactions here: whoever runs the app adds the event `reaction_added` and the scope "
    "`reactions:read` to its manifest (`manifest.watch.yml` has both), and installs it again."
)
_HELP = (
    "`/judge reaction :mag:` has each reply scored under which somebody puts that emoji, `/judge reaction off` ends it"
)
_NO_ACCESS = {
    NoAccessReason.DIRECT_MESSAGES: "A reaction is set for a channel; type that there.",
    NoAccessReason.APP_IS_NOT_IN: "I am not in this channel. Type `/invite @Slack Judge` first.",
    NoAccessReason.PERSON_IS_NOT_IN: "Only people in this channel can see or change its reaction.",
    NoAccessReason.GUEST: "Guests cannot change a channel's reaction; ask a member of this workspace.",
    NoAccessReason.NOT_AN_ADMIN: "Only admins of this workspace can change a channel's reaction (setting DIGEST_BY).",
}


def state(emoji: str | None, *, is_told: bool) -> str:
    """Which reaction asks for a score, in a sentence or two; `is_told` is whether Slack tells us of any."""
    if emoji is None:
        said = f"No reaction asks for a score in this channel. {_HELP}."
    else:
        said = f"Whoever puts :{emoji}: under a reply here has it scored. `/judge reaction off` ends that."
    return said if is_told else f"{said} {NOT_TOLD}"


def not_understood(reason: str) -> str:
    """What `/judge reaction` can do, for a person who typed something else; `reason` quotes it."""
    return f"{escape(reason)}. {_HELP}; an emoji is typed with its colons."


def no_access_text(refusal: NoAccess) -> str:
    """Why a person may not see a channel's reaction, or not change it."""
    if refusal.reason is NoAccessReason.UNSURE:
        return f"Slack does not let me see who is in this channel (`{refusal.error}`), so I leave its reaction alone."
    return _NO_ACCESS[refusal.reason]


_KEPT_S = 30.0
_MOST_TEAMS = 1000


class Reactions:
    """Knows which reaction asks for a score in which channel, and notes thumbs.

    Nearly all reactions are neither, and cost no look into the log.

    Args:
        digests: Where channels' settings are kept.
        thumbs: Where thumbs become durable.
        follows: Whether a feature keeps what people think of a message, scored or not.
    """

    def __init__(self, digests: Digests, thumbs: Thumbs, follows: Callable[[Reaction], Awaitable[bool]]) -> None:
        self._digests = digests
        self._thumbs = thumbs
        self._follows = follows
        self._chosen = AnswerCache(digests.score_reactions, _KEPT_S, _MOST_TEAMS)

    async def save(self, settings: ChannelSettings, by: str) -> None:
        """Records what a channel has chosen; other processes go by it within half a minute."""
        await self._digests.save(settings, by)
        self._chosen.forget(settings.team_id)

    async def asks_for_score(self, reaction: Reaction) -> bool:
        """Whether somebody has put a channel's reaction under a message; a thumb that does is no opinion."""
        chosen = await self._chosen.get(reaction.team_id)
        return reaction.is_added and chosen.get(reaction.channel_id) == reaction.emoji

    async def take(self, reaction: Reaction) -> bool:
        """Notes a reaction that asks for nothing; False for one that asks for a score: its listener can answer."""
        if await self.asks_for_score(reaction):
            return False
        await self.note(reaction)
        return True

    async def note(self, reaction: Reaction) -> None:
        """Notes a thumb under a reply that was scored or is watched, but for its author's own."""
        if reaction.emoji in THUMBS and reaction.user_id != reaction.author_id:
            await self._thumbs.note(reaction, is_watched=await self._follows(reaction))


@dataclass(frozen=True)
class ReactionCommand:
    """Shows and changes a channel's reaction, for those who may change its digest.

    Attributes:
        reactions: Where it is kept.
        digests: Where a channel's settings are read.
        access: Who may see and change it.
        messenger: What answers.
        scopes: What the app was granted.
    """

    reactions: Reactions
    digests: Digests
    access: Access
    messenger: Messenger
    scopes: frozenset[str]

    async def answer(self, invocation: Invocation, text: str) -> None:
        """Does what was asked, or says why not, to the person alone."""
        try:
            request = parse_reaction(text)
        except ValueError as exc:
            await self._tell(invocation, not_understood(str(exc)))
            return
        is_change = request.action != "state"
        if refusal := await self.access.refusal(invocation.channel_id, invocation.user_id, is_change):
            await self._tell(invocation, no_access_text(refusal))
            return
        settings = await self.digests.channel(invocation.team_id, invocation.channel_id)
        await self._tell(invocation, await self._do(invocation, request, settings))

    async def _do(self, invocation: Invocation, request: ReactionRequest, settings: ChannelSettings) -> str:
        is_told = READS_REACTIONS in self.scopes
        if request.action == "set" and not is_told:
            return NOT_TOLD
        if request.action != "state":
            settings = replace(settings, score_reaction=request.emoji or None)
            await self.reactions.save(settings, invocation.user_id)
        return state(settings.score_reaction, is_told=is_told)

    async def _tell(self, invocation: Invocation, text: str) -> None:
        await self.messenger.tell(invocation.recipient, sentence(text))


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
