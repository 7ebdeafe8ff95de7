"""When a step that failed is tried again: one rule each for Slack, the model, the store, and errors
of our own.
"""

from datetime import timedelta
from typing import Any

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError

from bot.slack.client import connection_word, slack_word
from bot.store.errors import STORE_ERRORS, reason_of
from judge import DeadlineError, JudgeError, QuotaExceededError, RateLimitedError, UnavailableError

logger = structlog.get_logger(__name__)

MODEL_PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 3, 6))
"""The pause after each failed call of the model; after the last one, the case is given up."""
MOST_INTERNAL_ERRORS = 10
"""How often an unexpected error while judging is retried, which takes about a quarter of an hour."""
STORE_PAUSE = timedelta(seconds=5)
"""The pause while the store is out of reach; it does not grow, because tries cannot be counted then."""
RECORD_PAUSES = tuple(timedelta(seconds=seconds) for seconds in (0.2, 1, 3, 9))
"""The pauses in which a verdict is kept in hand while the store is out of reach; then the model is asked again."""

FLEX_PAUSE = timedelta(minutes=1)
"""The pause of a watched case while as many as may wait at the tier "flex" do."""


class RetryError(Exception):
    """The case cannot go further now, and continues after `pause`; the message says why, without
    texts.
    """

    def __init__(self, reason: str, pause: timedelta) -> None:
        super().__init__(reason)
        self.pause = pause


def may_pass(error: JudgeError) -> bool:
    """Whether the model may answer later without the operator's help."""
    is_passing = isinstance(error, DeadlineError | RateLimitedError | UnavailableError)
    return is_passing and not isinstance(error, QuotaExceededError)


def growing_pause(tries: int) -> timedelta:
    """The pause after this many failures in a row: 1, 2, 4 ... seconds, at most five minutes; tries
    are unlimited.
    """
    return min(timedelta(seconds=1 << min(tries - 1, 10)), timedelta(minutes=5))


def in_brief(error: BaseException) -> str | None:
    """What is wrong with Slack, the connection to it or the store, in a few words; None for any
    other error.
    """
    if isinstance(error, SlackApiError):
        return f"Slack: {slack_word(error)}"
    if isinstance(error, aiohttp.ClientError):
        return f"Slack cannot be reached: {connection_word(error)}"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, STORE_ERRORS):
        return f"the database is out of reach: {reason_of(error)}"
    return None


def note_interruption(event: str, error: Exception, **fields: object) -> str:
    """Logs that work goes on later, with the traceback if nobody foresaw the error; returns why."""
    said = in_log(error)
    log = logger.error if said["exc_info"] else logger.warning
    log(event, **fields, **said)
    return str(said["reason"])


def in_log(error: BaseException) -> dict[str, Any]:
    """What a log line says of an error: in a few words, or by its class and traceback."""
    reason = in_brief(error)
    return {"reason": reason or type(error).__name__, "exc_info": None if reason else error}
