"""Trouble that passes: with Slack, with the way to it, or with the log."""

import aiohttp
from slack_sdk.errors import SlackApiError
from sqlalchemy.exc import DBAPIError

LOG_TROUBLE = (DBAPIError, OSError)
"""What reading or writing the log raises while the database is away, locked or full."""


def in_brief(error: BaseException) -> str | None:
    """What is wrong, in a few words for the app's own log; None of an error that nobody foresaw."""
    if isinstance(error, SlackApiError):
        return f"Slack: {error.response.get('error') or error.response.status_code}"
    if isinstance(error, aiohttp.ClientError):
        return f"Slack cannot be reached: {error or type(error).__name__}"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, LOG_TROUBLE):
        return f"the log is out of reach: {error.orig if isinstance(error, DBAPIError) else error}"
    return None


def slack_word(error: SlackApiError | aiohttp.ClientError | TimeoutError) -> str:
    """Slack's own word for why it refused, for the sentence that a person reads; the HTTP status where it gave none."""
    if not isinstance(error, SlackApiError):
        return "no answer"
    return str(error.response.get("error") or f"HTTP {error.response.status_code}")
