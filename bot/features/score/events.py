"""Scores requested by events: a person speaks to the app, or adds the channel's score reaction to a
reply.

Slack may send an event more than once. Each time its case is accepted, which is idempotent, but it
is answered once. `/judge reaction` sets the reaction. A thumb that does not ask for a score is
recorded as an opinion.
"""

import re
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping
from dataclasses import replace
from functools import partial

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.async_context import AsyncBoltContext

from bot.domain import blocker
from bot.domain.case import CaseSource
from bot.domain.label import Reaction
from bot.domain.shared import AnswerCache
from bot.features.score import command
from bot.pipeline.lookup import NotReadableError
from bot.services import Services
from bot.slack import messages
from bot.slack.client import MISSING
from bot.slack.invocation import Invocation, Raw, to_invocation, unknown
from bot.slack.members import SLACKBOT
from bot.slack.mrkdwn import emoji_of, escape

Answer = Callable[[], Awaitable[object]]
"""Tells the person the outcome, if there is anything to tell, after the event has been acknowledged."""
_REMEMBERED = 1000
_PERSONS_WORDS = {None, "file_share", "thread_broadcast"}
# Slack sends an edited mention again: https://github.com/slack-go/slack/pull/1256
_NOT_SAID_NOW = ("bot_id", "bot_profile", "app_id", "edited", "hidden")


def is_mention(body: Raw, own_ids: Collection[str]) -> bool:
    """Whether a person says something to the app; not for bots, itself, edits, joins, and messages
    to other people.

    Source: https://docs.slack.dev/reference/events/app_mention,
    https://docs.slack.dev/reference/events/message.im
    """
    event = body["event"]
    is_to_us = event["type"] == "app_mention" or event.get("channel_type") == "im"
    is_said = event.get("subtype") in _PERSONS_WORDS and not any(
        event.get(mark) for mark in _NOT_SAID_NOW
    )
    return is_to_us and is_said and event.get("user") not in {None, SLACKBOT, *own_ids}


def register(app: AsyncApp, services: Services) -> None:
    own_ids = services.identity.own_ids
    answered: deque[Hashable] = deque(maxlen=_REMEMBERED)

    async def take(
        body: Raw, context: AsyncBoltContext, next_: Callable[[], Awaitable[None]]
    ) -> None:
        event, answer = await _answer_to(services, body)
        if answer and event not in answered:
            answered.append(event)
            context["answer"] = answer
        await next_()

    async def is_to_us(body: Raw) -> bool:
        return is_mention(body, own_ids)

    # Bolt acknowledges an event before its listener runs, so what must be durable by then is done
    # in a middleware.
    @app.event("message", matchers=[is_to_us], middleware=[take])
    @app.event("app_mention", middleware=[take])
    @app.event(messages.ADDED, middleware=[take])
    async def reply(context: AsyncBoltContext) -> None:
        if answer := context.get("answer"):
            await answer()


async def _answer_to(services: Services, body: Raw) -> tuple[Hashable, Answer | None]:
    """What tells one event from another, and the answer to it, if it asks for something."""
    own_ids = services.identity.own_ids
    answer: Answer | None = None
    event: Hashable = None
    try:
        if is_mention(body, own_ids):
            event = body["event"]["channel"], body["event"]["ts"]
            answer = await _take_mention(services, to_invocation(body), body["event"])
        elif reaction := messages.to_reaction(body):
            event = reaction.channel_id, reaction.ts, reaction.user_id, reaction.at
            answer = await _take_reaction(services, to_invocation(body), reaction)
    except (blocker.RefusedError, NotReadableError) as exc:
        recipient = to_invocation(body).recipient
        answer = partial(services.messenger.tell, recipient, _why_not(exc))
    return event, answer


async def _take_mention(services: Services, person: Invocation, event: Raw) -> Answer:
    if person.is_direct or not messages.asks_for_score(event.get("text") or ""):
        return partial(command.answer_message, services, person)
    await services.intake.check_here(person)
    message = await services.lookup.above(person, event["ts"])
    if message is None:
        raise blocker.RefusedError(command.NOTHING_ABOVE)
    return await _take(services, person, message, CaseSource.MENTION)


async def _take_reaction(
    services: Services, person: Invocation, reaction: Reaction
) -> Answer | None:
    if await services.members.is_known_bot(reaction.user_id):
        return None
    await services.intake.check_here(person, reaction.ts)
    message = await services.lookup.message_anywhere(reaction.channel_id, reaction.ts)
    if message is None:
        raise blocker.RefusedError(blocker.GONE)
    if message.author_id in services.identity.own_ids:
        return None
    person = replace(person, thread_ts=message.parent_ts)
    return await _take(services, person, message, CaseSource.REACTION)


async def _take(
    services: Services, person: Invocation, message: messages.Message, source: CaseSource
) -> Answer:
    """Accepts a case for the message, durable on return.

    If Slack fails temporarily, it will send the event again.
    """
    # An event does not contain the person's name.
    members = await services.members.of_all([person.user_id])
    if member := members.get(person.user_id):
        person = replace(person, user_name=member.name)
    asked = await services.requests.of_message(person, message, source)
    case, is_new = await services.intake.take(asked, person)
    return partial(services.intake.proceed, case, is_new, person)


def _why_not(exc: blocker.RefusedError | NotReadableError) -> str:
    if isinstance(exc, blocker.RefusedError):
        return str(exc)
    return blocker.MAY_NOT_READ if str(exc) == MISSING else blocker.GONE


# Names given by Slack or by workspaces: up to 100 characters of any alphabet, in lower case.
_EMOJI = re.compile(r":(?!skin-tone-)(?P<name>[\w+'-]{1,100}):(:skin-tone-[2-6]:)?")


def parse_reaction(text: str) -> str | None:
    """The emoji that should ask for a score; empty to switch it off, None if the text asks which
    one it is.
    """
    typed = text.strip().lower()
    if found := _EMOJI.fullmatch(typed):
        return emoji_of(found["name"])
    if typed in {"", "off"}:
        return "" if typed else None
    raise unknown(text)


NOT_TOLD = (
    "Slack does not send me reactions: the app needs the event `reaction_added` and the scope "
    "`reactions:read`. `manifest.yml` has both; paste it and reinstall the app."
)
_HELP = (
    "`/judge reaction :mag:` scores every reply that somebody marks with that emoji, `/judge "
    "reaction off` ends it"
)


ScoreReactions = AnswerCache[str, Mapping[str, str]]
"""The score reaction of each channel, cached by team, so that nearly all other reactions cost no query."""


async def note_reaction(services: Services, chosen: ScoreReactions, reaction: Reaction) -> bool:
    """Records a reaction that does not ask for a score; False if it does, so that its listener
    answers.
    """
    here = (await chosen.get(reaction.team_id)).get(reaction.channel_id)
    if reaction.is_added and here == reaction.emoji:
        return False  # a thumb that asks for a score is no opinion
    if reaction.emoji not in {"+1", "-1"} or reaction.user_id == reaction.author_id:
        return True
    # People of other companies have no say here, as with labels.
    if not reaction.is_shared or not await services.members.is_foreign(reaction.user_id):
        await services.store.thumbs.note(reaction, is_watched=await services.follows(reaction))
    return True


async def answer_reaction(
    services: Services, chosen: ScoreReactions, person: Invocation, text: str
) -> str:
    try:
        emoji = parse_reaction(text)
    except ValueError as exc:
        return f"{escape(str(exc))}. {_HELP}; type the emoji with its colons."
    is_change = emoji is not None
    if refusal := await services.access.refusal(person, "score reactions", is_change=is_change):
        return refusal
    if "reactions:read" not in services.identity.scopes:
        return NOT_TOLD
    channels = services.store.channels
    if is_change:
        place = person.team_id, person.channel_id, person.user_id
        settings = await channels.save(*place, score_reaction=emoji or None)
        chosen.forget(person.team_id)  # other processes follow within half a minute
    else:
        settings = await channels.of(person.team_id, person.channel_id)
    if emoji := settings.score_reaction:
        return (
            f"A reply here is scored when somebody adds :{emoji}: to it. `/judge reaction off` "
            "ends that."
        )
    return f"No reaction asks for a score in this channel. {_HELP}."
