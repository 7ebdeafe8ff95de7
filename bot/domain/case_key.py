"""The keys of cases: what identifies a request to judge, as it is stored.

The same key in the same team is the same case. Keys are written and read only here.
"""

from dataclasses import dataclass
from typing import Self

from bot.domain.case import Visibility


@dataclass(frozen=True)
class MessageKey:
    """Of a person's request for the score of a message, or of the texts of an earlier case.

    Everybody in the thread shares a key; a private request has one for its person.
    """

    channel_id: str
    target: str
    audience: str
    attempt: int

    @classmethod
    def asked_by(
        cls, user_id: str, visibility: Visibility, channel_id: str, target: str, attempt: int = 1
    ) -> Self:
        audience = user_id if visibility is Visibility.ME else "thread"
        return cls(channel_id, target, audience, attempt)

    @classmethod
    def parse(cls, key: str) -> Self:
        _, channel_id, target, audience, attempt = key.split(":")
        return cls(channel_id, target, audience, int(attempt))

    def __str__(self) -> str:
        return f"message:{self.channel_id}:{self.target}:{self.audience}:{self.attempt}"


@dataclass(frozen=True)
class WatchKey:
    """Of a reply that a watch drew; `is_again` if it is scored a second time, because it went on."""

    channel_id: str
    ts: str
    is_again: bool = False

    @classmethod
    def parse(cls, key: str) -> Self:
        _, channel_id, ts, *again = key.split(":")
        return cls(channel_id, ts, bool(again))

    def __str__(self) -> str:
        key = f"watch:{self.channel_id}:{self.ts}"
        return f"{key}:2" if self.is_again else key


def window_key(view_id: str) -> str:
    """Of a submitted window: one that is submitted twice is the same request."""
    return f"view:{view_id}"


def command_key(trigger_id: str) -> str:
    return f"command:{trigger_id}"
