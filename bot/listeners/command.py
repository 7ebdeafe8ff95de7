"""The slash command `/judge`: a modal, a link, two texts, or a word."""

from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import Case, Visibility
from bot.domain.obstacle import Obstacle, ObstacleKind
from bot.extract.commands import Texts, Word, parse_command
from bot.extract.links import Permalink
from bot.extract.payloads import Choice, Invocation, link_case, texts_case, to_invocation
from bot.listeners.desk import Desk
from bot.listeners.digest import answer_digest
from bot.listeners.forget import answer_forget
from bot.listeners.recent import answer_recent
from bot.listeners.stats import answer_stats
from bot.slack import ids
from bot.slack.memberships import MembershipError
from bot.slack.mrkdwn import to_plain
from bot.views import messages
from bot.views.modals import texts_modal
from bot.views.obstacles import obstacle_text
from bot.views.refusals import COMMAND_TOO_SLOW, NOT_IN_BOTH, unsure_of_link


def register(app: AsyncApp, desk: Desk) -> None:
    """Connects the command."""

    @app.command(ids.COMMAND)
    async def judge(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation = to_invocation(body)
        request = parse_command(body.get("text") or "")
        hosts = desk.hosts | {f"{body.get('team_domain')}.slack.com"}
        match request:
            case None:
                await _open_modal(desk, ack, invocation)
            case Word(word="help"):
                await ack(text=messages.help_text())
            case Word(word="digest" | "recent" | "forget" | "stats"):
                await ack()
                await _answer(desk, invocation, request, hosts)
            case Word():
                await ack(text=messages.help_text(unknown=to_plain(body["text"])))
            case Permalink():
                await _score_linked(desk, ack, invocation, request, hosts)
            case Texts(question=question, response=response):
                asked = texts_case(invocation, question, response, await desk.choice(invocation))
                await _score(desk, ack, invocation, asked)


async def _answer(desk: Desk, invocation: Invocation, request: Word, hosts: frozenset[str]) -> None:
    match request.word:
        case "digest":
            await answer_digest(desk, invocation, request.rest)
        case "recent":
            await answer_recent(desk, invocation)
        case "forget":
            await answer_forget(desk, invocation, request.rest, hosts)
        case "stats":
            await answer_stats(desk, invocation, request.rest)


async def _open_modal(desk: Desk, ack: AsyncAck, invocation: Invocation) -> None:
    await ack()
    choice = await desk.choice(invocation)
    view = texts_modal(invocation.to_state(), desk.rubrics, choice.rubric, choice.visibility)
    if not await desk.teller.open_modal(invocation.trigger_id, view):
        await desk.teller.tell(invocation.recipient, messages.sentence(COMMAND_TOO_SLOW))


async def _score_linked(
    desk: Desk, ack: AsyncAck, invocation: Invocation, link: Permalink, hosts: frozenset[str]
) -> None:
    asked = _linked(invocation, link, await desk.choice(invocation), hosts)
    if asked.obstacle is None and (refusal := await _not_theirs(desk, invocation, link)):
        await ack(text=refusal)
    else:
        await _score(desk, ack, invocation, asked)


async def _not_theirs(desk: Desk, invocation: Invocation, link: Permalink) -> str | None:
    """Why a message is left alone; None where the person is in its channel."""
    if link.channel_id == invocation.channel_id:
        return None
    try:
        is_theirs = await desk.memberships.includes(invocation.user_id, link.channel_id)
    except MembershipError as exc:
        return unsure_of_link(exc)
    return None if is_theirs else NOT_IN_BOTH


def _linked(invocation: Invocation, link: Permalink, choice: Choice, hosts: frozenset[str]) -> Case:
    obstacle = None
    if not link.is_in(hosts):
        obstacle = obstacle_text(Obstacle(ObstacleKind.OTHER_WORKSPACE, (link.host,)))
    return link_case(invocation, link, choice, obstacle)


async def _score(desk: Desk, ack: AsyncAck, invocation: Invocation, asked: Case) -> None:
    if refusal := await desk.refusal(invocation):
        await ack(text=refusal)
        return
    case, is_new = await desk.take(asked)
    appears_here = case.message_ts is None and case.visibility is Visibility.THREAD
    if is_new and not appears_here:
        await ack(text=messages.accepted(case))
    else:
        await ack()
    await desk.proceed(case, is_new, invocation)
