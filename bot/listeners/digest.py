"""`/judge digest`: on, off, now, preview, and whether people are ranked."""

from collections.abc import Awaitable
from dataclasses import replace

from slack_sdk.errors import SlackApiError

from bot.extract.commands import DigestRequest, parse_digest
from bot.extract.payloads import Invocation
from bot.listeners.desk import Desk
from bot.log.digests import ChannelSettings
from bot.slack.errors import slack_word
from bot.slack.mrkdwn import escape
from bot.views import messages
from bot.views.digest_settings import digest_help, digest_state

_POSTED = "The week so far is posted here; the weekly digest comes all the same."
_NOT_POSTED = "Slack did not let me post here (`{error}`)."
_READS = {"preview", "state", "help"}


async def answer_digest(desk: Desk, invocation: Invocation, text: str) -> None:
    """Does what was asked, or says why not, to the person alone."""
    try:
        request = parse_digest(text)
    except ValueError as exc:
        await _tell(desk, invocation, f"{escape(str(exc))}. This is what I understand:\n{digest_help()}")
        return
    is_change = request.action not in _READS
    refusal = await desk.access.refusal(invocation.channel_id, invocation.user_id, is_change)
    if refusal:
        await _tell(desk, invocation, refusal)
        return
    settings = await desk.poster.digests.channel(invocation.team_id, invocation.channel_id)
    match request.action:
        case "help":
            await _tell(desk, invocation, digest_help())
        case "preview":
            await _show(desk, invocation, desk.poster.show(settings, invocation.user_id), None)
        case "now":
            await _show(desk, invocation, desk.poster.post(settings), _POSTED)
        case "state":
            await _tell_state(desk, invocation, settings)
        case _:
            changed = _changed(settings, request, desk)
            await desk.poster.digests.save(changed)
            await _tell_state(desk, invocation, changed)


def _changed(settings: ChannelSettings, request: DigestRequest, desk: Desk) -> ChannelSettings:
    if request.action in {"on", "off"}:
        settings = settings.switched(request.action == "on", desk.poster.now())
    return replace(settings, **request.changes)


async def _show(desk: Desk, invocation: Invocation, work: Awaitable[None], done: str | None) -> None:
    try:
        await work
    except SlackApiError as exc:
        await _tell(desk, invocation, _NOT_POSTED.format(error=slack_word(exc)))
    else:
        if done:
            await _tell(desk, invocation, done)


async def _tell_state(desk: Desk, invocation: Invocation, settings: ChannelSettings) -> None:
    schedule = desk.poster.schedule(settings)
    await _tell(desk, invocation, digest_state(settings, schedule, desk.poster.now()))


async def _tell(desk: Desk, invocation: Invocation, text: str) -> None:
    await desk.teller.tell(invocation.recipient, messages.sentence(text))
