"""Trouble on demand: what the next calls of a method meet instead of an answer."""

from dataclasses import dataclass

from sandbox.journal import Journal
from sandbox.model import Json


@dataclass
class Fault:
    """What happens to a call.

    Attributes:
        error: Answer `ok: false` with this error.
        status: Answer with this HTTP status and no JSON.
        retry_after_s: Answer 429 `ratelimited` with this `Retry-After`.
        drop: Close the connection without an answer.
        delay_s: Wait before the call is looked at.
        is_applied: The call takes effect before it fails, as when an answer gets lost on the way back.
        times: How many calls meet it.
    """

    error: str | None = None
    status: int | None = None
    retry_after_s: int | None = None
    drop: bool = False
    delay_s: float = 0.0
    is_applied: bool = False
    times: int = 1


class Faults:
    """Faults that wait for their calls, by method."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._waiting: dict[str, list[Fault]] = {}

    def add(self, method: str, fault: Fault) -> None:
        """Let the next `fault.times` calls of `method` meet this fault; several faults queue up.

        `method` is a Web API method's name, or `response_url`.
        """
        self._waiting.setdefault(method, []).append(fault)
        self._journal.record("fault", method=method, **_described(fault))

    def take(self, method: str) -> Fault:
        """The fault for a call that has just come in; one without any effect if none waits."""
        waiting = self._waiting.get(method)
        if not waiting:
            return Fault()
        fault = waiting[0]
        fault.times -= 1
        if fault.times <= 0:
            waiting.pop(0)
        return fault

    def clear(self) -> None:
        """Forget all faults that still wait."""
        self._waiting.clear()


def _described(fault: Fault) -> Json:
    return {key: value for key, value in vars(fault).items() if value}
