"""Identifiers in Slack's form.

Timestamps are unique in a workspace, because they identify messages.
"""

import itertools
import secrets

from pocket_slack.clock import Clock

_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ0123456789"


class Ids:
    """Makes ids and timestamps; ids count up so that two runs look the same."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._count = itertools.count(1)
        self._last_ts_us = 0

    def new(self, prefix: str) -> str:
        """An id such as `C00000001`."""
        return f"{prefix}{next(self._count):08d}"

    def ts(self) -> str:
        """A timestamp such as `1700000000.000100`, later than every one before."""
        now_us = int(self._clock.now() * 1_000_000)
        self._last_ts_us = max(now_us, self._last_ts_us + 100)
        return f"{self._last_ts_us // 1_000_000}.{self._last_ts_us % 1_000_000:06d}"

    def dotted(self) -> str:
        """A trigger id such as `1700000000123.4567.89abcdef`."""
        return f"{int(self._clock.now() * 1000)}.{next(self._count)}.{secrets.token_hex(16)}"

    def view_hash(self) -> str:
        """A view's hash such as `1700000000.Zk3pQ9aB`, new for every change of the view."""
        return f"{int(self._clock.now())}.{self.short(8)}"

    def short(self, length: int = 5) -> str:
        """A random id, such as Slack gives a block that has no `block_id`."""
        return "".join(secrets.choice(_ALPHABET) for _ in range(length))
