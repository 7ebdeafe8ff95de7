"""Failures on demand: what the next calls of a method get instead of an answer."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pocket_slack.errors import SlackError
from pocket_slack.journal import Journal
from pocket_slack.model import Json

ANY = "*"


@dataclass(frozen=True)
class Answer:
    """An HTTP answer; without a body it is an empty page."""

    status: int = 200
    body: Json | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Fault:
    """What goes wrong with a call.

    Attributes:
        error: Answer `ok: false` with this error.
        status: Answer with this HTTP status and no JSON.
        retry_after_s: Answer 429 `ratelimited` with this `Retry-After`.
        drop: Close the connection without an answer.
        delay_s: Wait before the call is handled.
        held_until: Wait for this event before the call is handled; for tests in the same process.
        changes: What the answer's body becomes, as if Slack answered otherwise; for tests in the
            same process.
        is_applied: The call takes effect before it fails, as when an answer gets lost on the way
            back.
        times: How many calls it affects.
    """

    error: str | None = None
    status: int | None = None
    retry_after_s: int | None = None
    drop: bool = False
    delay_s: float = 0.0
    held_until: asyncio.Event | None = None
    changes: Callable[[Json], Json] | None = None
    is_applied: bool = False
    times: int = 1

    @property
    def stops_the_call(self) -> bool:
        """Whether the call never reaches the workspace."""
        return self.spoils_the_answer and not self.is_applied

    @property
    def spoils_the_answer(self) -> bool:
        """Whether the caller gets something other than the answer."""
        return bool(self.error or self.status or self.drop) or self.retry_after_s is not None

    def answer(self) -> Answer | None:
        """What the caller gets instead of the answer; None means that the connection is dropped."""
        if self.drop:
            return None
        if self.retry_after_s is not None:
            return Answer(
                429, SlackError("ratelimited").body(), {"Retry-After": str(self.retry_after_s)}
            )
        return Answer(self.status or 200, SlackError(self.error).body() if self.error else None)


def _shown(fault: Fault) -> Json:
    """The fields of a fault that are set, for the journal; two of them cannot be JSON."""
    return {
        key: value
        for key, value in vars(fault).items()
        if value and key not in ("held_until", "changes")
    }


class Faults:
    """Faults that wait for their calls, by method."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._waiting: dict[str, list[Fault]] = {}

    def add(self, method: str, fault: Fault) -> None:
        """Makes the next `fault.times` calls of `method` get this fault; several faults queue up.

        `method` is a Web API method's name, `response_url`, or `*` for any of them.
        """
        self._waiting.setdefault(method, []).append(fault)
        self._record("waits", method=method, **_shown(fault))

    def take(self, method: str) -> Fault:
        """The fault for a call that has just come in; a fault without any effect if none waits."""
        waiting = self._waiting.get(method) or self._waiting.get(ANY)
        if not waiting:
            return Fault()
        fault = waiting[0]
        fault.times -= 1
        if fault.times <= 0:
            waiting.pop(0)
        self._record("met", method=method)
        return fault

    def clear(self) -> None:
        """Removes all faults that still wait."""
        self._waiting.clear()
        self._record("forgotten")

    def _record(self, event: str, **data: Any) -> None:
        calls = sum(fault.times for faults in self._waiting.values() for fault in faults)
        self._journal.record("fault", event=event, waiting_calls=calls, **data)
