"""`/judge digest`: on, off, now, preview, and whether people are ranked."""

from collections.abc import Awaitable
from dataclasses import replace

from slack_sdk.errors import SlackApiError

from bot.extract.commands import DigestRequest, parse_digest
from bot.extract.payloads import Invocation
from bot.listeners.desk import Desk
from bot.log.digests import ChannelSettings
from bot.slack.errors import slack_word
from bot.views import messages
from bot.views.digest_settings import POSTED, digest_help, digest_state, no_access_text, not_posted, not_understood

_READS = {"preview", "state", "help"}


async def answer_digest(desk: Desk, invocation: Invocation, text: str) -> None:
    """Does what was asked, or says why not, to the person alone."""
    try:
        request = parse_digest(text)
    except ValueError as exc:
        await _tell(desk, invocation, not_understood(str(exc)))
        return
    is_change = request.action not in _READS
    refusal = await desk.access.refusal(invocation.channel_id, invocation.user_id, is_change)
    if refusal:
        await _tell(desk, invocation, no_access_text(refusal))
        return
    settings = await desk.poster.digests.channel(invocation.team_id, invocation.channel_id)
    match request.action:
        case "help":
            await _tell(desk, invocation, digest_help())
        case "preview":
            await _show(desk, invocation, desk.poster.show(settings, invocation.user_id), None)
        case "now":
            await _show(desk, invocation, desk.poster.post(settings), POSTED)
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
        await _tell(desk, invocation, not_posted(slack_word(exc)))
    else:
        if done:
            await _tell(desk, invocation, done)


async def _tell_state(desk: Desk, invocation: Invocation, settings: ChannelSettings) -> None:
    schedule = desk.poster.schedule(settings)
    await _tell(desk, invocation, digest_state(settings, schedule, desk.poster.now()))


async def _tell(desk: Desk, invocation: Invocation, text: str) -> None:
    await desk.teller.tell(invocation.recipient, messages.sentence(text))
