"""The slash command `/judge`: a window, a link, two texts, or a word."""

from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.blocker import RefusedError
from bot.domain.case import Case, Visibility
from bot.feature import Services
from bot.features.score.handlers import TextsModal
from bot.pipeline.blockers import blocker_text
from bot.pipeline.intake import Choices, Intake
from bot.pipeline.requests import link_case, texts_case
from bot.pipeline.text import NOT_IN_BOTH, accepted, refusal_text, unsure_of_link
from bot.slack import ids
from bot.slack.blocks import actions, button, section
from bot.slack.commands import Texts, Word, command_text, parse_command
from bot.slack.invocation import Invocation, to_invocation
from bot.slack.members import MembershipError, Memberships
from bot.slack.messages import Permalink
from bot.slack.messenger import Post
from bot.slack.mrkdwn import excerpt, to_plain

_NO_TICKS = {ord("`"): "'"}
_EXCERPT = 80
HELP = """• `/judge` opens a window for a question and a response
• `/judge LINK` scores the message that the link points to, in its thread
• `/judge question | response` scores the two texts here
• `@Slack Judge score this` in a thread scores the message above
• On any message: More actions (⋮) → *Score this reply*
• `/judge reaction :mag:` has replies scored under which somebody puts that emoji"""
DIRECT_HELP = """• `/judge` opens a window for a question and a response
• `/judge question | response` scores the two texts; only you see the verdict
• `/judge LINK` scores a message of a channel that we are both in, in its thread"""
_IN_CHANNELS = "• `/judge help` in a channel lists what works there"

NOTHING_ABOVE = (
    "I find no reply above your message. Write that in the thread of the reply, "
    "or choose More actions (⋮) → *Score this reply* on it."
)
_SAY = "Write *score this* with my name below a reply, in its thread, and I score it."
_SAY_DIRECTLY = "Here I score two texts that you give me. A reply in a channel: More actions (⋮) → *Score this reply*."
_SAY_COMMAND = "Type that with `/judge` before it (`/judge question | response`, `/judge LINK`), and I score it."


def help_text(services: Services, *, is_direct: bool = False) -> str:
    """What `/judge` can do, in a channel or in direct messages."""
    known = services.help(is_direct=is_direct)
    if is_direct:
        return f"This is what I understand in direct messages:\n{known}\n{_IN_CHANNELS}"
    return f"This is what I understand:\n{known}"


def not_understood(text: str) -> str:
    """What a person is told who typed something else after `/judge`."""
    typed = excerpt(text.translate(_NO_TICKS), _EXCERPT)
    return f"I do not know `{typed}`. `/judge question | response` scores two texts, `/judge help` lists the rest."


def help_line(*, is_direct: bool, lacks_command: bool = False) -> Post:
    """The answer to whoever speaks to the app and asks for nothing that it knows; buttons do the rest."""
    line = _SAY_COMMAND if lacks_command else _SAY_DIRECTLY if is_direct else _SAY
    row = actions(
        button("Score two texts", ids.ACTION_OPEN_WINDOW),
        button("Your cases", ids.ACTION_RECENT_NEWEST),
        button("All commands", ids.ACTION_HELP),
    )
    return Post(line, [section(line), row])


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
        found = link.blocker(self.hosts | invocation.hosts)
        refusal = None if found else await self._not_theirs(invocation, link)
        if refusal:
            await ack(text=refusal)
            return
        choice = await self.choices.of(invocation, link.channel_id)
        await self._score(ack, invocation, link_case(invocation, link, choice, blocker_text(found) if found else None))

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


def register(app: AsyncApp, requests: TypedRequests, window: TextsModal, services: Services) -> None:
    """Connects the command, with the words of all features."""
    answers = services.words()

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
                await ack(text=help_text(services, is_direct=invocation.is_direct))
            case Word(word=word, rest=rest) if word in answers:
                await ack()
                await answers[word](invocation, rest)
            case Word():
                await ack(text=not_understood(to_plain(text)))
