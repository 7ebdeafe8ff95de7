"""Which reaction asks for a score in a channel (`/judge reaction`), and the thumbs under replies."""

import re
from dataclasses import dataclass, replace
from typing import Literal

from bot.domain.label import Reaction
from bot.feature import Services
from bot.pipeline.text import sentence
from bot.slack.client import READS_REACTIONS
from bot.slack.invocation import Invocation
from bot.slack.members import AnswerCache, NoAccess, NoAccessReason
from bot.slack.mrkdwn import emoji_of, escape

_KEPT_S = 30.0
_MOST_TEAMS = 1000
_LONGEST = 80
# Slack's own names, and those that workspaces give: up to 100 characters, of any alphabet, in lower case.
_EMOJI = re.compile(r":(?!skin-tone-)(?P<name>[\w+'-]{1,100}):(:skin-tone-[2-6]:)?")


@dataclass(frozen=True)
class ReactionRequest:
    """What `/judge reaction` is to do; `emoji` is the one that is to ask for a score."""

    action: Literal["state", "set", "off"]
    emoji: str = ""


def parse_reaction(text: str) -> ReactionRequest:
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
    if refusal.reason is NoAccessReason.UNSURE:
        return f"Slack does not let me see who is in this channel (`{refusal.error}`), so I leave its reaction alone."
    return _NO_ACCESS[refusal.reason]


class Reactions:
    """Knows which reaction asks for a score in which channel, and notes thumbs.

    Nearly all reactions are neither, and cost no query.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._store = services.store
        self._chosen = AnswerCache(self._store.digests.score_reactions, _KEPT_S, _MOST_TEAMS)

    async def take(self, reaction: Reaction) -> bool:
        """Notes a reaction that asks for nothing; False for one that asks for a score: its listener can answer."""
        chosen = await self._chosen.get(reaction.team_id)
        if reaction.is_added and chosen.get(reaction.channel_id) == reaction.emoji:
            return False  # a thumb that asks for a score is no opinion
        if reaction.is_thumb and reaction.user_id != reaction.author_id:
            await self._store.thumbs.note(reaction, is_watched=await self._services.follows(reaction))
        return True

    async def answer(self, invocation: Invocation, text: str) -> None:
        """Does what `/judge reaction` asks for, for those who may change the channel's digest, or says why not."""
        try:
            said = await self._do(invocation, parse_reaction(text))
        except ValueError as exc:
            said = not_understood(str(exc))
        await self._services.messenger.tell(invocation.recipient, sentence(said))

    async def _do(self, invocation: Invocation, request: ReactionRequest) -> str:
        is_change, is_told = request.action != "state", READS_REACTIONS in self._services.identity.scopes
        refusal = await self._services.access.refusal(invocation.channel_id, invocation.user_id, is_change)
        if refusal:
            return no_access_text(refusal)
        if request.action == "set" and not is_told:
            return NOT_TOLD
        settings = await self._store.digests.channel(invocation.team_id, invocation.channel_id)
        if is_change:
            settings = replace(settings, score_reaction=request.emoji or None)
            await self._store.digests.save(settings, invocation.user_id)
            self._chosen.forget(settings.team_id)  # other processes go by it within half a minute
        return state(settings.score_reaction, is_told=is_told)
