"""What comes in from Slack before Bolt sees it: how much there is of it, and the events of channels.

Slack tells of every message and every reaction of every channel that the app is in. So these events are taken in before
Bolt sees them: Bolt's own work on one takes longer than all that is done with nearly any of them.

How much is being taken in is counted: acknowledging comes before settling cases, and too many payloads are refused.
Slack waits 3 s for an acknowledgement, and tells the person of a failure then. A case that is taken in later than that
would be scored although its person was told that it failed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from bot.domain.label import Reaction
from bot.slack.client import Identity
from bot.slack.messages import ADDED, REMOVED, to_reaction

Takes = Callable[[Mapping[str, Any]], Awaitable[bool]]
"""Whether a payload was taken in; others go to Bolt. Raises where Slack is to send it again."""


async def nothing(_: Mapping[str, Any]) -> bool:
    """None of them."""
    return False


_CHANNELS = {"channel", "group", "mpim"}
CHANGES = {"message_changed", "message_deleted"}


@dataclass(frozen=True)
class ChannelEvents:
    """Hands the messages of channels, changes of any message, and reactions to who needs them."""

    identity: Identity
    on_message: Sequence[Callable[[Mapping[str, Any]], Awaitable[None]]]
    on_reaction: Sequence[Callable[[Reaction], Awaitable[bool]]]

    async def takes(self, body: Mapping[str, Any]) -> bool:
        """Whether this payload was such an event; all that it tells is durable then, and Slack may be told so."""
        event = body.get("event") or {}
        if body.get("team_id") != self.identity.team_id:
            return False
        if event.get("type") in {ADDED, REMOVED}:
            reaction = to_reaction(dict(body))
            if reaction is None or {reaction.user_id, reaction.author_id} & self.identity.own_ids:
                return True
            return all([await take(reaction) for take in self.on_reaction])
        if event.get("type") != "message":
            return False
        if event.get("subtype") not in CHANGES and event.get("channel_type") not in _CHANNELS:
            return False
        for take in self.on_message:
            await take(body)
        return True


MOST = 100
"""Payloads taken in at once; what comes beyond them would wait for its acknowledgement for more than 3 s."""
_FEW = 6
_PATIENCE_S = 5.0


class Traffic:
    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._under_way = 0
        self._calm = asyncio.Event()
        self._calm.set()

    @property
    def is_full(self) -> bool:
        return self._under_way >= self._most

    @contextmanager
    def payload(self) -> Iterator[None]:
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    async def calm(self) -> None:
        """Returns once few payloads wait to be acknowledged, or after 5 s: a job must not wait for ever."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                await self._calm.wait()

    def _count(self, change: int) -> None:
        self._under_way += change
        if self._under_way <= _FEW:
            self._calm.set()
        else:
            self._calm.clear()
