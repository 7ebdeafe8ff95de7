"""The slash command `/judge`: a window, a link, two texts, or a word."""

from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond

from bot.domain.blocker import RefusedError
from bot.domain.case import Case, Visibility
from bot.feature import Services
from bot.features.score.handlers import open_texts_window
from bot.pipeline.requests import link_case, texts_case
from bot.pipeline.text import NOT_IN_BOTH, accepted, refusal_text, sentence, unsure_of_link
from bot.slack import ids
from bot.slack.blocks import actions, button, section
from bot.slack.commands import Texts, Word, command_text, parse_command
from bot.slack.invocation import Invocation, to_invocation
from bot.slack.members import MembershipError
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


def register(app: AsyncApp, services: Services) -> None:
    answers = services.words()

    @app.command(ids.COMMAND)
    async def judge(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation, text = to_invocation(body), command_text(body)
        match parse_command(text):
            case None:
                await ack()
                await open_texts_window(services, invocation)
            case Permalink() as link:
                await _score_link(services, ack, invocation, link)
            case Texts(question, response):
                choice = await services.choices.of(invocation)
                await _score(services, ack, invocation, texts_case(invocation, question, response, choice))
            case Word(word="help"):
                await ack(text=help_text(services, is_direct=invocation.is_direct))
            case Word(word=word, rest=rest) if word in answers:
                await ack()
                await answers[word](invocation, rest)
            case Word():
                await ack(text=not_understood(to_plain(text)))

    @app.action(ids.ACTION_OPEN_WINDOW)
    async def open_window(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await open_texts_window(services, to_invocation(body))

    @app.action(ids.ACTION_HELP)
    async def show_help(ack: AsyncAck, body: dict[str, Any], respond: AsyncRespond) -> None:
        await ack()
        said = sentence(help_text(services, is_direct=to_invocation(body).is_direct))
        await respond(text=said.text, blocks=said.blocks, replace_original=True)


async def _score_link(services: Services, ack: AsyncAck, invocation: Invocation, link: Permalink) -> None:
    blocker = link.blocker({services.identity.host} | invocation.hosts)
    if not blocker and link.channel_id != invocation.channel_id:
        try:
            if not await services.memberships.includes(invocation.user_id, link.channel_id):
                await ack(text=NOT_IN_BOTH)
                return
        except MembershipError as exc:
            await ack(text=unsure_of_link(exc))
            return
    choice = await services.choices.of(invocation, link.channel_id)
    await _score(services, ack, invocation, link_case(invocation, link, choice, blocker))


async def _score(services: Services, ack: AsyncAck, invocation: Invocation, asked: Case) -> None:
    try:
        case, is_new = await services.intake.take(asked, invocation)
    except RefusedError as exc:
        await ack(text=refusal_text(exc.refusal))
        return
    appears_here = case.message_ts is None and case.visibility is Visibility.THREAD
    await ack(text=accepted(case) if is_new and not appears_here else "")
    await services.intake.proceed(case, is_new, invocation)
