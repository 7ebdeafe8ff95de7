"""Reads watched channels now and then: for what came while the app was down, or where no events come at all."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush, nlargest
from itertools import count
from typing import Any

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError

from bot.domain.watch import Watch, draws, is_since
from bot.feature import Services
from bot.features.watch.watcher import Watcher, author_of, to_reply
from bot.slack.client import connection_word, slack_word
from bot.slack.messages import Message, to_message

OFTEN, SELDOM = timedelta(minutes=5), timedelta(hours=1)
"""Between two looks where no events come, and where they do."""
BACK = timedelta(days=7)
_PAGE = 200
_MOST_PAGES = 10

Raw = dict[str, Any]

logger = structlog.get_logger(__name__)


async def look(services: Services) -> None:
    """Notes the replies in watched channels that nobody told us of; those known already stay as they are.

    Replies in a thread are found as long as its parent is among the channel's latest messages, up to a week old.
    Trouble in one channel keeps no other waiting.
    """
    every = SELDOM if services.settings.watch_by == "events" else OFTEN
    team_id, watches = services.identity.team_id, services.store.watches
    by_channel = defaultdict[str, dict[str, Watch]](dict)
    for watch in await watches.of(team_id):
        by_channel[watch.channel_id][watch.author_id] = watch
    for channel_id, watched in by_channel.items():
        since = await watches.begin_look(team_id, channel_id, services.clock(), every)
        if since is None:
            continue
        try:
            await _look_at(services, channel_id, watched, since)
        except SlackApiError as exc:
            logger.warning("channel_not_read", channel=channel_id, error=slack_word(exc))
        except (aiohttp.ClientError, TimeoutError) as exc:
            logger.warning("channel_not_read", channel=channel_id, error=connection_word(exc))


async def _look_at(services: Services, channel_id: str, watched: Mapping[str, Watch], since: datetime) -> None:
    noted, now = 0, services.clock()
    async for raw in _messages(services, channel_id, since.timestamp()):
        watch = watched.get(author_of(raw) or "")
        if watch and is_since(watch, raw["ts"]):
            noted += await services.store.replies.note(to_reply(watch.team_id, channel_id, raw), watch, now)
    if noted:
        logger.info("replies_found", channel=channel_id, number=noted, since=f"{since:%Y-%m-%d %H:%M}")


async def _messages(services: Services, channel_id: str, since: float) -> AsyncIterator[Raw]:
    """What was written since then, in the channel and in threads of up to a week ago."""
    client, first = services.client, (services.clock() - BACK).timestamp()
    async for parent in _pages(client.conversations_history, channel=channel_id, oldest=f"{first:.6f}"):
        if float(parent["ts"]) > since:
            yield parent
        if float(parent.get("latest_reply") or 0) > since:
            thread = {"channel": channel_id, "ts": parent["ts"], "oldest": f"{since:.6f}"}
            async for raw in _pages(client.conversations_replies, **thread):
                if raw["ts"] != parent["ts"]:
                    yield raw


async def _pages(method: Any, **arguments: Any) -> AsyncIterator[Raw]:
    pages = 0
    async for page in await method(limit=_PAGE, **arguments):
        for raw in page.get("messages") or []:
            yield raw
        pages += 1
        if pages == _MOST_PAGES:
            logger.warning("channel_not_read_to_its_end", channel=arguments["channel"], messages=pages * _PAGE)
            return


MOST = 5
_PATIENCE_S = 10.0
_MOST_TRIED = 20  # each is a call of Slack, which allows some 50 a minute for all that the app reads
_MOST_THREADS = 20
_RECENT_PAGE, _THREAD_PAGE = 200, 999


async def recent_replies(watcher: Watcher, watch: Watch) -> list[Message]:
    """What a watch would have taken in the last week, the newest first, up to five; fewer where Slack is slow.

    Raises:
        OutOfSightError, MayNotReadError, SlackApiError, ClientError: Slack does not let us read.
    """
    found: list[Message] = []
    seen = set[str]()  # what is sent to the channel as well stands there, and in its thread
    tries = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE_S):
            async for raw in _newest_first(watcher.services, watch):
                if author_of(raw) != watch.author_id or raw["ts"] in seen or not draws(watch, raw["ts"]):
                    continue
                seen.add(raw["ts"])
                tries += 1
                message = to_message(raw)
                if await watcher.answered(watch.channel_id, message):
                    found.append(message)
                if len(found) == MOST or tries == _MOST_TRIED:
                    break
    return found


async def _newest_first(services: Services, watch: Watch) -> AsyncIterator[Raw]:
    """What was written in the channel and in its threads; a thread is read once its last reply's turn has come."""
    client, first = services.client, (services.clock() - BACK).timestamp()
    since: Raw = {"channel": watch.channel_id, "oldest": f"{first:.6f}"}
    parents = (await client.conversations_history(limit=_RECENT_PAGE, **since)).get("messages") or []
    threads = nlargest(_MOST_THREADS, _with_replies_of(parents, watch.author_id), key=_last_reply)
    number = count()
    waiting = [(-float(raw["ts"]), next(number), raw, False) for raw in parents]
    waiting += [(-_last_reply(raw), next(number), raw, True) for raw in threads]
    heapify(waiting)
    while waiting:
        _, _, raw, is_thread = heappop(waiting)
        if not is_thread:
            yield raw
            continue
        thread = await client.conversations_replies(ts=raw["ts"], limit=_THREAD_PAGE, **since)
        for reply in thread.get("messages") or []:
            if reply["ts"] != raw["ts"]:
                heappush(waiting, (-float(reply["ts"]), next(number), reply, False))


def _last_reply(raw: Raw) -> float:
    return float(raw.get("latest_reply") or 0)


def _with_replies_of(parents: Iterable[Raw], author_id: str) -> list[Raw]:
    """Those in whose threads the assistant may have written: Slack names up to five of those who did."""
    named = [(raw, raw.get("reply_users") or []) for raw in parents if raw.get("latest_reply")]
    return [raw for raw, users in named if author_id in users or raw.get("reply_users_count", -1) != len(users)]
