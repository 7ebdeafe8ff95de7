"""How many payloads are being taken in: acknowledging them comes before settling cases, and too many are refused.

Slack waits 3 s for an acknowledgement, and tells the person of a failure then. A case that is taken in later than that
would be scored although its person was told that it failed.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

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
