"""Everything that happened, in order, and a way to wait for what happens."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pocket_slack.clock import Clock

T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """One thing that happened.

    Attributes:
        id: Counts up from 1.
        at: Seconds since the epoch.
        kind: `connection`, `envelope`, `ack`, `failure`, `call`, `response_url`, `fault`,
            `execution`, or a change that people see: `message`, `message_changed`,
            `message_deleted`, `streamed`, `ephemeral`, `thread`, `view`, `home`, `channel`, `user`,
            `steps`.
        data: The details of that kind, ready for JSON. They never contain tokens.
    """

    id: int
    at: float
    kind: str
    data: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The entry for a page or another process."""
        return {**self.data, "id": self.id, "at": self.at, "kind": self.kind}


class Journal:
    """The newest `limit` entries, and a feed of new ones."""

    def __init__(self, clock: Clock, limit: int = 10_000) -> None:
        self.entries: deque[Entry] = deque(maxlen=limit)
        self._clock = clock
        self._count = 0
        self._watchers: list[Callable[[Entry], None]] = []

    def record(self, kind: str, **data: Any) -> Entry:
        """Adds an entry and calls all watchers."""
        self._count += 1
        entry = Entry(self._count, self._clock.now(), kind, data)
        self.entries.append(entry)
        for watcher in list(self._watchers):
            watcher(entry)
        return entry

    def of(self, kind: str) -> list[Entry]:
        """The kept entries of one kind, oldest first."""
        return [entry for entry in self.entries if entry.kind == kind]

    def watch(self, watcher: Callable[[Entry], None]) -> Callable[[], None]:
        """Calls `watcher` with every new entry; returns a function that stops this."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    async def until(self, condition: Callable[[], T], timeout_s: float = 120.0) -> T:
        """The first true value of `condition`, which is checked now and after every entry.

        Raises:
            TimeoutError: The condition was not true in time; the message ends with the last
                entries.
        """
        news = asyncio.Event()
        unwatch = self.watch(lambda _: news.set())
        try:
            async with asyncio.timeout(timeout_s):
                while not (value := condition()):
                    await news.wait()
                    news.clear()
                return value
        except TimeoutError:
            raise TimeoutError(
                f"nothing true within {timeout_s} s; the last entries:\n{self.tail()}"
            ) from None
        finally:
            unwatch()

    def tail(self, count: int = 12) -> str:
        """The last entries, one line each, for an error message."""
        return "\n".join(
            f"  {e.id} {e.kind} {str(e.data)[:160]}" for e in list(self.entries)[-count:]
        )
