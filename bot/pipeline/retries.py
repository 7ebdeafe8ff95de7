"""When a step that failed is tried again: one rule each for Slack, the model, the log, and errors of our own."""

from datetime import timedelta

MODEL_PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 3, 6))
"""After each time that the model could not be asked; after the last one, the case is given up."""
MOST_INTERNAL_ERRORS = 10
"""So often an error of ours in front of the model is tried again: about a quarter of an hour."""
LOG_PAUSE = timedelta(seconds=5)
"""While the log is out of reach nothing can be counted there."""

_FIRST_PAUSE = timedelta(seconds=1)
_LONGEST_PAUSE = timedelta(minutes=5)


class RetryError(Exception):
    """The case is as far as it goes now, and goes on after `pause`; the message says why, without texts."""

    def __init__(self, reason: str, pause: timedelta) -> None:
        super().__init__(reason)
        self.pause = pause


def growing_pause(tries: int) -> timedelta:
    """The pause after so many failures in a row: 1, 2, 4 ... seconds, at most five minutes, for as long as it takes."""
    return min(_FIRST_PAUSE * (1 << min(tries - 1, 10)), _LONGEST_PAUSE)
