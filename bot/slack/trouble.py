"""Trouble with Slack, with the way to it, or with the log: what it is called, and whether it passes."""

import aiohttp
from slack_sdk.errors import SlackApiError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

LOG_TROUBLE = (DBAPIError, PoolTimeoutError, OSError)
"""What reading or writing the log raises while the database is away, locked or full, or all connections are taken."""

# None: an error page instead of an answer.
_PASSING = {None, "ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable"}
_PASSING |= {"request_timeout", "team_added_to_org"}
# Whoever runs the app has to mend these; until then they say nothing about the message or the channel.
_NOT_LET_IN = {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"}
_NOT_LET_IN |= {"accesslimited", "org_login_required", "ekm_access_denied", "two_factor_setup_required"}


def error_of(exc: SlackApiError) -> str | None:
    """Slack's own word for why it refused; None where something else answered in its place, such as a proxy."""
    data = getattr(exc.response, "data", None)
    return data.get("error") if isinstance(data, dict) else None


def is_passing(exc: SlackApiError) -> bool:
    """Whether Slack only fails for the moment; it may also have done what it says it has not."""
    return error_of(exc) in _PASSING


def is_transient(exc: SlackApiError) -> bool:
    """Whether Slack may answer otherwise in a while, by itself or because the token was mended."""
    return is_passing(exc) or error_of(exc) in _NOT_LET_IN


def slack_word(exc: SlackApiError | aiohttp.ClientError | TimeoutError) -> str:
    """Slack's own word for why it refused, for the sentence that a person reads; the HTTP status where it gave none."""
    if not isinstance(exc, SlackApiError):
        return "no answer"
    # slack-sdk gives its own response, or aiohttp's where the body is no JSON.
    status = getattr(exc.response, "status_code", None) or getattr(exc.response, "status", None)
    return error_of(exc) or f"HTTP {status}"


def in_brief(error: BaseException) -> str | None:
    """What is wrong, in a few words for the app's own log; None of an error that nobody foresaw."""
    if isinstance(error, SlackApiError):
        return f"Slack: {slack_word(error)}"
    if isinstance(error, aiohttp.ClientError):
        return f"Slack cannot be reached: {error or type(error).__name__}"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, LOG_TROUBLE):
        return f"the log is out of reach: {error.orig if isinstance(error, DBAPIError) else error}"
    return None
