"""Reads watched channels for replies that no event has reported: those written while the app was
down, or without message events.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import structlog

from bot.domain.watch import Watch
from bot.features.watch.watcher import Watcher
from bot.pipeline.retries import in_brief
from bot.services import Services
from bot.slack.client import SLACK_ERRORS, slack_word
from bot.slack.invocation import Raw

logger = structlog.get_logger(__name__)

OFTEN = timedelta(minutes=5)
SELDOM = timedelta(hours=1)
"""The time between two looks at a channel: without message events, and with them."""
BACK = timedelta(days=7)
_OVERLAP = timedelta(minutes=1)  # Slack may show a message slightly later than its timestamp
_PAGE = 200
_MOST_PAGES = 20
_AT_ONCE = 4


async def look(watcher: Watcher) -> None:
    """Notes the replies in watched channels that no event has reported; those already known stay as
    they are.

    Each look begins where the last successful one ended, at most a week back. Replies in a thread
    are found only if its parent is among the channel's latest messages and at most a week old.
    """
    team_id = watcher.services.identity.team_id
    left = iter((await watcher.orders.by_channel(team_id)).items())

    async def look_on() -> None:
        for channel_id, watched in left:
            await _look_at(watcher, channel_id, watched)

    # A slow channel does not hold up the others. Not a TaskGroup, which would hide the error's class
    # from the log.
    await asyncio.gather(*(look_on() for _ in range(_AT_ONCE)))


async def _look_at(watcher: Watcher, channel_id: str, watched: Mapping[str, Watch]) -> None:
    services = watcher.services
    orders = watcher.orders
    team_id = services.identity.team_id
    now = services.clock()
    every = SELDOM if services.settings.watch_by == "events" else OFTEN
    read_until = await orders.begin_look(team_id, channel_id, now, every)
    if read_until is None:
        return
    try:
        await _note_since(watcher, channel_id, watched, max(read_until, now - BACK) - _OVERLAP)
    except SLACK_ERRORS as exc:
        logger.warning("channel_not_read", channel=channel_id, error=in_brief(exc))
        await orders.note_not_read(team_id, channel_id, slack_word(exc), now + OFTEN)
        return
    await orders.note_read(team_id, channel_id, now)


async def _note_since(
    watcher: Watcher, channel_id: str, watched: Mapping[str, Watch], since: datetime
) -> None:
    noted = 0
    async for raw in _messages(watcher.services, channel_id, since.timestamp()):
        noted += await watcher.see(watched, raw, timedelta())
    if noted:
        when = f"{since:%Y-%m-%d %H:%M}"
        logger.info("replies_found", channel=channel_id, number=noted, since=when)


async def _messages(services: Services, channel_id: str, since: float) -> AsyncIterator[Raw]:
    """The messages since `since` (epoch s), in the channel and in threads begun at most a week ago."""
    client = services.client
    first = (services.clock() - BACK).timestamp()
    async for parent in _pages(
        client.conversations_history, channel=channel_id, oldest=f"{first:.6f}"
    ):
        if float(parent["ts"]) > since:
            yield parent
        if float(parent.get("latest_reply") or 0) > since:
            thread = {"channel": channel_id, "ts": parent["ts"], "oldest": f"{since:.6f}"}
            async for raw in _pages(client.conversations_replies, **thread):
                if raw["ts"] != parent["ts"]:
                    yield raw


async def _pages(method: Any, **arguments: Any) -> AsyncIterator[Raw]:
    """The messages of at most twenty pages."""
    pages = 0
    async for page in await method(limit=_PAGE, **arguments):
        for raw in page.get("messages") or []:
            yield raw
        pages += 1
        if pages == _MOST_PAGES:
            logger.warning(
                "channel_not_read_to_its_end", channel=arguments["channel"], messages=pages * _PAGE
            )
            return
