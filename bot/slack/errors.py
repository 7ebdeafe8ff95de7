"""Slack's refusals: what they are called, and whether they pass."""

import aiohttp
from slack_sdk.errors import SlackApiError

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


def connection_word(exc: aiohttp.ClientError | TimeoutError) -> str:
    """What went wrong on the way to Slack: its kind, and the HTTP status of whoever answered.

    What such an error says itself may quote the login of a proxy.
    """
    status = getattr(exc, "status", None)
    return f"{type(exc).__name__}, HTTP {status}" if status else type(exc).__name__
