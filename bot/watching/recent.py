"""The last replies of an assistant that a watch would have taken: what somebody sees before they set it."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from datetime import timedelta
from heapq import heapify, heappop, heappush, nlargest
from itertools import count
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.clock import Clock, utc_now
from bot.domain.watch import Watch, draws
from bot.extract.messages import Message, to_message
from bot.extract.replies import author_of
from bot.watching.watcher import Watcher

MOST = 5
BACK = timedelta(days=7)
_PATIENCE_S = 10.0
_MOST_TRIED = 20  # each is a call of Slack, which allows some 50 a minute for all that the app reads
_MOST_THREADS = 20
_PAGE, _THREAD_PAGE = 200, 999

Raw = dict[str, Any]


class RecentReplies:
    """Reads a channel as far back as it takes, a week at most, and takes what it finds for answers as the watcher does.

    Args:
        client: The bot's Web API client.
        watcher: Says what is an answer.
        clock: Says what time it is.
    """

    def __init__(self, client: AsyncWebClient, watcher: Watcher, clock: Clock = utc_now) -> None:
        self._client = client
        self._watcher = watcher
        self._now = clock

    async def of(self, watch: Watch) -> list[Message]:
        """The newest first, up to five of them; fewer where Slack is slow.

        Raises:
            OutOfSightError, MayNotReadError, SlackApiError, ClientError: Slack does not let us read.
        """
        found: list[Message] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                tries = iter(range(_MOST_TRIED))
                async for message in self._drawn(watch):
                    if await self._watcher.answered(watch.channel_id, message):
                        found.append(message)
                    if len(found) == MOST or next(tries, None) is None:
                        break
        return found

    async def _drawn(self, watch: Watch) -> AsyncIterator[Message]:
        """The assistant's messages that are in the watch's share."""
        seen = set[str]()  # what is sent to the channel as well stands there, and in its thread
        async for raw in self._newest_first(watch):
            if author_of(raw) == watch.author_id and raw["ts"] not in seen and draws(watch, raw["ts"]):
                seen.add(raw["ts"])
                yield to_message(raw)

    async def _newest_first(self, watch: Watch) -> AsyncIterator[Raw]:
        """What was written in the channel and in its threads; a thread is read once its last reply's turn has come."""
        since: Raw = {"channel": watch.channel_id, "oldest": f"{(self._now() - BACK).timestamp():.6f}"}
        parents = (await self._client.conversations_history(limit=_PAGE, **since)).get("messages") or []
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
            thread = await self._client.conversations_replies(ts=raw["ts"], limit=_THREAD_PAGE, **since)
            for reply in thread.get("messages") or []:
                if reply["ts"] != raw["ts"]:
                    heappush(waiting, (-float(reply["ts"]), next(number), reply, False))


def _last_reply(raw: Raw) -> float:
    return float(raw.get("latest_reply") or 0)


def _with_replies_of(parents: Iterable[Raw], author_id: str) -> list[Raw]:
    """Those in whose threads the assistant may have written: Slack names up to five of those who did."""
    named = [(raw, raw.get("reply_users") or []) for raw in parents if raw.get("latest_reply")]
    return [raw for raw, users in named if author_id in users or raw.get("reply_users_count", -1) != len(users)]
