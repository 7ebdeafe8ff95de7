"""`/judge recent`: one's own cases, wherever they were asked for, with buttons to the older ones."""

from dataclasses import dataclass
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.pipeline.own_cases import PAGE, OwnCases, recent_page, to_page_end
from bot.slack import ids
from bot.slack.invocation import Invocation, clicked_value, to_invocation
from bot.slack.messenger import Messenger, Post
from bot.store.cases import PageEnd, Recent

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class RecentCases:
    """Lists people's own cases.

    Attributes:
        recent: Where they are.
        own_cases: Adds to them what the person may see of the replies.
        messenger: What shows the first page.
        workspace_url: Where links to messages begin.
    """

    recent: Recent
    own_cases: OwnCases
    messenger: Messenger
    workspace_url: str

    async def answer(self, invocation: Invocation, _: str) -> None:
        """Shows the newest cases to the person alone."""
        await self.messenger.tell(invocation.recipient, await self.page(invocation))

    async def page(self, invocation: Invocation, before: PageEnd | None = None) -> Post:
        """The newest cases, or the newest of those before the end of another page."""
        found = await self.recent.of(invocation.team_id, invocation.user_id, PAGE + 1, before)
        listed = await self.own_cases.listed(found[:PAGE], invocation.user_id, invocation.channel_id)
        return recent_page(listed, self.workspace_url, before, has_older=len(found) > PAGE)

    async def turn(self, invocation: Invocation, before: PageEnd | None = None) -> None:
        """Shows another page in place of the one that was clicked; below it where that cannot be replaced."""
        page = await self.page(invocation, before)
        if not await self.messenger.replace(invocation.response_url, page):
            await self.messenger.tell(invocation.recipient, page)


def register(app: AsyncApp, cases: RecentCases) -> None:
    """Connects the buttons that turn the page."""

    @app.action(ids.ACTION_RECENT_NEWEST)
    async def show_newest(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await cases.turn(to_invocation(body))

    @app.action(ids.ACTION_RECENT_OLDER)
    async def show_older(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await cases.turn(to_invocation(body), to_page_end(clicked_value(body)))
