"""The events of a case that the pipeline reports; `bot.telemetry` listens to them if it is on."""

from contextlib import AbstractContextManager, nullcontext

from bot.domain.case import LoggedCase
from bot.domain.verdict import CaseVerdict

_NOTHING = nullcontext()


class Tracing:
    """Ignores all events, and makes no objects; the base class of listeners."""

    def attempt(self, case: LoggedCase) -> AbstractContextManager[object]:
        """A context around an attempt to settle a case; `case` is as it was claimed."""
        return _NOTHING

    def step(self, name: str, case: LoggedCase) -> AbstractContextManager[object]:
        return _NOTHING

    def judged(self, case: LoggedCase, verdict: CaseVerdict) -> None:
        """Is called once a verdict is in the store."""
