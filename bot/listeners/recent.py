"""`/judge recent`: one's own cases, wherever they were asked for, with buttons to the older ones."""

from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond

from bot.extract.payloads import Invocation, to_invocation
from bot.listeners.desk import Desk
from bot.log.recent import PageEnd, Recent
from bot.slack import ids
from bot.slack.post import Post
from bot.views.recent import PAGE, recent_page, to_page_end

logger = structlog.get_logger(__name__)


def register(app: AsyncApp, desk: Desk) -> None:
    """Connects the buttons that turn the page."""

    @app.action(ids.ACTION_RECENT_NEWEST)
    async def show_newest(ack: AsyncAck, body: dict[str, Any], respond: AsyncRespond) -> None:
        await ack()
        await _turn(respond, await _page(desk, to_invocation(body)))

    @app.action(ids.ACTION_RECENT_OLDER)
    async def show_older(ack: AsyncAck, body: dict[str, Any], respond: AsyncRespond) -> None:
        await ack()
        await _turn(respond, await _page(desk, to_invocation(body), to_page_end(body["actions"][0].get("value") or "")))


async def answer_recent(desk: Desk, invocation: Invocation) -> None:
    """Shows the newest cases to the person alone."""
    await desk.teller.tell(invocation.recipient, await _page(desk, invocation))


async def _page(desk: Desk, invocation: Invocation, before: PageEnd | None = None) -> Post:
    found = await Recent(desk.log).of(invocation.team_id, invocation.user_id, PAGE + 1, before)
    return recent_page(found, desk.workspace_url, before)


async def _turn(respond: AsyncRespond, page: Post) -> None:
    answer = await respond(text=page.text, blocks=page.blocks, replace_original=True)
    if answer.status_code != 200:
        logger.info("page_not_turned", error=answer.body[:100])
