"""What the pipeline says of a case on its way; `bot.telemetry` listens, where it is on."""

from contextlib import AbstractContextManager, nullcontext

from bot.domain.case import LoggedCase
from bot.domain.verdict import RecordedVerdict

_NOTHING = nullcontext()


class Tracing:
    """Listens to nothing, and makes no object for a case."""

    def attempt(self, case: LoggedCase) -> AbstractContextManager[object]:
        """Around an attempt to settle a case, as it was claimed."""
        return _NOTHING

    def step(self, name: str, case: LoggedCase) -> AbstractContextManager[object]:
        """Around a step of that attempt."""
        return _NOTHING

    def judged(self, case: LoggedCase, verdict: RecordedVerdict) -> None:
        """Once a verdict is in the log."""
