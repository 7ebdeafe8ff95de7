"""`/judge forget`: deletes a case, and says what was deleted."""

from collections.abc import Sequence

import aiohttp
from slack_sdk.errors import SlackApiError

from bot.domain.case import LoggedCase, to_case_id
from bot.domain.obstacle import Obstacle, ObstacleKind
from bot.extract.links import parse_permalink
from bot.extract.payloads import Invocation
from bot.listeners.desk import Desk
from bot.views import messages
from bot.views.forgetting import HOW, NOT_NOW, forgotten_text
from bot.views.obstacles import obstacle_text


class _UnclearError(Exception):
    """Nobody can tell which case is meant; the message says what helps."""


async def answer_forget(desk: Desk, invocation: Invocation, text: str, hosts: frozenset[str]) -> None:
    """Does what was asked, or says why not, to the person alone."""
    sentence = await _forget(desk, invocation, text, hosts)
    await desk.teller.tell(invocation.recipient, messages.sentence(sentence))


async def _forget(desk: Desk, invocation: Invocation, text: str, hosts: frozenset[str]) -> str:
    try:
        found = await _find(desk, invocation, text, hosts)
        return forgotten_text(await desk.forgetting.forget(found, invocation.user_id))
    except _UnclearError as exc:
        return str(exc)
    except (SlackApiError, aiohttp.ClientError, TimeoutError):
        return NOT_NOW


async def _find(desk: Desk, invocation: Invocation, text: str, hosts: frozenset[str]) -> Sequence[LoggedCase]:
    if text.isascii() and text.isdigit():
        number = to_case_id(text)
        case = await desk.log.find(invocation.team_id, number) if number is not None else None
        return [case] if case else []
    link = parse_permalink(text)
    if link is None:
        raise _UnclearError(HOW)
    if not link.is_in(hosts):
        raise _UnclearError(obstacle_text(Obstacle(ObstacleKind.OTHER_WORKSPACE, (link.host,))))
    return await desk.forgetting.linked(invocation.team_id, link.channel_id, link.message_ts, link.parent_ts)
