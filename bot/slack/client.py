"""The connection to Slack's Web API: the client, who we are, and what a refusal at start means."""

from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot import metrics
from bot.errors import SlackError

# None: an error page instead of an answer.
_PASSING = {None, "ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable"}
_PASSING |= {"request_timeout", "team_added_to_org"}
# Whoever runs the app has to mend these; until then they say nothing about the message or the channel.
_NOT_LET_IN = {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"}
_NOT_LET_IN |= {"accesslimited", "org_login_required", "ekm_access_denied", "two_factor_setup_required"}


SLACK_ERRORS = (SlackApiError, aiohttp.ClientError, TimeoutError)
"""What a call of Slack raises: it refuses, cannot be reached, or does not answer in time."""


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


def connection_word(exc: Exception) -> str:
    """What went wrong on the way to Slack: its kind, and the HTTP status of whoever answered.

    What such an error says itself may quote the login of a proxy.
    """
    status = getattr(exc, "status", None)
    return f"{type(exc).__name__}, HTTP {status}" if status else type(exc).__name__


async def refusal_of(call: Awaitable[object]) -> str | None:
    """Slack's word for why it refuses a call for good; None where the call went well."""
    try:
        await call
    except SlackApiError as exc:
        if is_transient(exc):
            raise
        return slack_word(exc)
    return None


MISSING = "missing_scope"
"""Slack's word for it, and ours."""

REACTIONS = "reactions:write"
READS_REACTIONS = "reactions:read"

_HISTORY = frozenset({"channels:history", "groups:history", "im:history", "mpim:history"})
_CHANNELS = frozenset({"channels:read", "groups:read", "im:read", "mpim:read"})
# One of these is needed; which, depends on the kind of channel, and is Slack's to say.
_NEEDED: Mapping[str, frozenset[str]] = {
    "bots.info": frozenset({"users:read"}),
    "conversations.history": _HISTORY,
    "conversations.info": _CHANNELS,
    "conversations.members": _CHANNELS,
    "conversations.replies": _HISTORY,
    "reactions.add": frozenset({REACTIONS}),
    "users.conversations": _CHANNELS,
    "users.info": frozenset({"users:read"}),
}
_WITH_ANOTHER_TOKEN = {"apps.connections.open", "functions.completeError"}  # the latter perhaps


class ScopedClient(AsyncWebClient):
    _granted: frozenset[str] = frozenset()

    async def api_call(self, api_method: str, **arguments: Any) -> AsyncSlackResponse:
        """As slack-sdk has it; refused as `missing_scope`, without a call, where none of its scopes was granted."""
        needed = _NEEDED.get(api_method)
        if needed and self._granted and needed.isdisjoint(self._granted):
            body = {"ok": False, "error": MISSING, "needed": ",".join(sorted(needed))}
            refusal = AsyncSlackResponse(
                client=self, http_verb="POST", api_url=api_method, req_args={}, data=body, headers={}, status_code=200
            )
            said = f"{api_method} is not called: none of its scopes was granted"
            raise SlackApiError(said, refusal)  # type: ignore[no-untyped-call]
        answer = await super().api_call(api_method, **arguments)
        if api_method not in _WITH_ANOTHER_TOKEN:
            self._granted = granted_scopes(answer)
        return answer


def granted_scopes(answer: AsyncSlackResponse) -> frozenset[str]:
    """What Slack says beside an answer that the token may do; empty where it says nothing."""
    header = next((value for name, value in answer.headers.items() if name.lower() == "x-oauth-scopes"), "")
    return frozenset(scope.strip() for scope in header.split(",") if scope.strip())


_TIMEOUT_S = 30
# Slack closes idle connections; a post on a closing one fails without anybody knowing whether it got through.
_KEEP_ALIVE_S = 10
_APP = "api.slack.com/apps > your app"
_MEND = {
    "invalid_auth": f"copy the token again ({_APP})",
    "not_authed": f"copy the token again ({_APP})",
    "account_inactive": "the app was removed from the workspace; install it again",
    "token_revoked": "install the app again and copy the new token",
    "token_expired": "switch token rotation off in the app's settings, and install the app again",
    "missing_scope": "make an app-level token with the scope connections:write",
    "not_allowed_token_type": "this is another kind of token than the setting wants",
    "socket_mode_not_enabled": f"switch Socket Mode on ({_APP} > Socket Mode)",
}


@dataclass(frozen=True)
class Identity:
    """Who the bot token belongs to, as `auth.test` says."""

    team_id: str
    team: str
    url: str
    user_id: str
    user: str
    bot_id: str
    scopes: frozenset[str]

    @property
    def host(self) -> str:
        """The workspace's address, as it stands in links to its messages."""
        return urlsplit(self.url).netloc

    @property
    def own_ids(self) -> frozenset[str]:
        return frozenset({self.user_id, self.bot_id} - {""})


class _CountedWaits(AsyncRateLimitErrorRetryHandler):
    """Waits as long as Slack says, and counts how often it had to."""

    async def prepare_for_next_attempt_async(self, **arguments: Any) -> None:
        metrics.SLACK_LIMITED.inc()
        await super().prepare_for_next_attempt_async(**arguments)


@asynccontextmanager
async def web_client(token: SecretStr, api_url: str) -> AsyncIterator[AsyncWebClient]:
    """A Web API client that waits when Slack says so, calls what it may, and never repeats a post by itself.

    slack-sdk's default repeats after a lost connection, which posts a message twice that Slack had taken.
    """
    connector = aiohttp.TCPConnector(keepalive_timeout=_KEEP_ALIVE_S)
    timeout = aiohttp.ClientTimeout(total=_TIMEOUT_S)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        yield ScopedClient(
            token=token.get_secret_value(),
            base_url=api_url,
            session=session,
            timeout=_TIMEOUT_S,
            retry_handlers=[_CountedWaits(max_retry_count=2)],
        )


async def identify(client: AsyncWebClient) -> Identity:
    """Who we are; raises SlackError where Slack refuses the bot token, or cannot be reached."""
    answer = await _at_start(client.auth_test(), "SLACK_BOT_TOKEN", client.base_url)
    return Identity(
        team_id=answer["team_id"],
        team=answer.get("team") or "",
        url=answer.get("url") or "",
        user_id=answer["user_id"],
        user=answer.get("user") or "",
        bot_id=answer.get("bot_id") or "",
        scopes=granted_scopes(answer),
    )


async def open_socket_url(client: AsyncWebClient, app_token: SecretStr) -> str:
    """A WebSocket address for Socket Mode, good for one connection; raises SlackError as `identify`."""
    call = client.apps_connections_open(app_token=app_token.get_secret_value())
    return str((await _at_start(call, "SLACK_APP_TOKEN", client.base_url))["url"])


async def _at_start(call: Awaitable[AsyncSlackResponse], setting: str, base_url: str) -> AsyncSlackResponse:
    try:
        return await call
    except SlackApiError as exc:
        if is_passing(exc):
            raise SlackError(
                f"SLACK_API_URL {base_url}: cannot answer now (Slack: {slack_word(exc)}); try again"
            ) from exc
        error = slack_word(exc)
        mend = _MEND.get(error, "docs.slack.dev explains the error")
        raise SlackError(f"{setting}: Slack refuses it ({error}); {mend}") from exc
    except (aiohttp.ClientError, TimeoutError) as exc:
        raise SlackError(f"SLACK_API_URL {base_url}: cannot be reached ({connection_word(exc)})") from exc
