"""The slash command `/judge`: without text it opens a window; otherwise it takes a link, two texts,
or a word.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.blocker import RefusedError
from bot.domain.case import Case, Visibility
from bot.features.score.handlers import open_texts_window
from bot.pipeline.text import NOT_IN_BOTH, accepted, unsure_of_membership
from bot.services import Services
from bot.slack import ids
from bot.slack.blocks import Block, actions, button, section
from bot.slack.invocation import (
    Invocation,
    Raw,
    TypedTexts,
    Word,
    on_click,
    parse_command,
    to_invocation,
)
from bot.slack.members import MembershipError
from bot.slack.messages import Permalink
from bot.slack.messenger import Post
from bot.slack.mrkdwn import excerpt, to_plain
from judge import nothing_to_judge

HELP = """• On any message: More actions (⋮) → *Score this reply*
• `/judge` opens a window for a question and a response"""
MORE_HELP = """• `/judge LINK` scores the message that the link points to
• `/judge question | response` scores two texts here
• `@Slack Judge score this` in a thread scores the reply above it
• `/judge reaction :mag:` makes that emoji the reaction that asks for a score"""
_MORE = "• `/judge help more` lists everything else"

NOTHING_ABOVE = (
    "There is no reply above your message; in a channel, I look 15 minutes back. Write *score this* "
    "in the thread of the reply, "
    "or choose More actions (⋮) → *Score this reply* on it."
)
SAY = "To score a reply, mention me and write *score this* below it, in its thread."
SAY_DIRECTLY = (
    "To score a reply, choose More actions (⋮) → *Score this reply* on it, or type `/judge LINK` or "
    "`/judge question | response`."
)
# "hepl" and "help" are this close, but so are "please" and "release": the first letter must be right
_CLOSE = 0.75


def help_text(services: Services, rest: str = "") -> str:
    """The help for `/judge`; if `rest` is "more", what it leaves out."""
    if rest == "more":
        return services.help("more_help")
    return f"{services.help('help')}\n{_MORE}"


def not_understood(text: str, known: Mapping[str, str]) -> str:
    """The answer to an unknown word after `/judge`; `known` is what to type for the words that
    exist, and for those that people try.
    """
    typed = excerpt(text.replace("`", "'"), 80)
    word = text.partition(" ")[0].lower()
    alike = [each for each in known if each[:1] == word[:1]]
    for close in get_close_matches(word, alike, n=1, cutoff=_CLOSE):
        return f"I do not know `{typed}`. Did you mean `/judge {known[close]}`?"
    return (
        f"I do not know `{typed}`. `/judge question | response` scores two texts, `/judge "
        "help` lists the rest."
    )


async def answer_message(services: Services, person: Invocation) -> None:
    """Answers a message to the app that asks for no score: with how the person's assistants stand,
    and what it can do.
    """
    blocks = list[Block]()
    for feature in services.features:
        if feature.home_section:
            blocks += await feature.home_section(person)
    line = SAY_DIRECTLY if person.is_direct else SAY
    await services.messenger.answer(person.recipient, help_line(line, blocks))


def help_line(line: str, before: Sequence[Block] = ()) -> Post:
    """What is said of a person's assistants, a line, and buttons for what the app can do."""
    row = actions(
        button("Score two texts", ids.ACTION_OPEN_WINDOW),
        button("Your cases", ids.ACTION_RECENT_NEWEST),
        button("All commands", ids.ACTION_HELP),
    )
    return Post(line, [*before, section(line), row])


def register(app: AsyncApp, services: Services) -> None:
    answers = services.words()
    known = {word: word for word in [*answers, "help"]} | dict(services.meant())

    @app.command(ids.COMMAND)
    async def judge(ack: AsyncAck, body: Raw) -> None:
        person = to_invocation(body)
        text = body.get("text") or ""
        match parse_command(text):
            case None:
                await ack()
                await open_texts_window(services, person)
            case Permalink() | TypedTexts() as asked:
                await _score(services, ack, person, asked)
            case Word("help", rest):
                await ack(text=help_text(services, rest))
            case Word(word, rest) if word in answers:
                await ack()
                answer = await services.answer(person, f"{word} {rest}".strip())
                await services.messenger.answer(person.recipient, answer)
            case Word():
                await ack(text=not_understood(to_plain(text), known))

    @on_click(app, ids.ACTION_HELP)
    async def show_help(invocation: Invocation, _: Raw) -> None:
        await services.messenger.replace(invocation.recipient, help_text(services))


async def _to_case(services: Services, person: Invocation, asked: Permalink | TypedTexts) -> Case:
    if isinstance(asked, TypedTexts):
        if nothing := nothing_to_judge(asked.question, asked.response):
            raise RefusedError(f"{nothing.detail} `/judge question | response` scores two texts.")
        return await services.requests.of_texts(person, asked.question, asked.response)
    is_here = asked.channel_id == person.channel_id
    if not is_here and not await services.memberships.includes(person.user_id, asked.channel_id):
        raise RefusedError(NOT_IN_BOTH)
    return await services.requests.of_link(person, asked)


async def _score(
    services: Services, ack: AsyncAck, person: Invocation, asked: Permalink | TypedTexts
) -> None:
    try:
        case, is_new = await services.intake.take(await _to_case(services, person, asked), person)
    except (RefusedError, MembershipError) as exc:
        await ack(text=unsure_of_membership(exc) if isinstance(exc, MembershipError) else str(exc))
        return
    appears_here = case.message_ts is None and case.visibility is Visibility.THREAD
    await ack(text=accepted(case) if is_new and not appears_here else "")
    await services.intake.proceed(case, is_new, person)
