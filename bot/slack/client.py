"""The connection to Slack's Web API: the client, who we are, and what a refusal at start means."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import aiohttp
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot import metrics
from bot.errors import SlackError
from bot.slack.errors import connection_word, is_passing, slack_word
from bot.slack.scopes import ScopedClient, granted_scopes

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
        """Both ids under which our own messages appear."""
        return frozenset({self.user_id, self.bot_id} - {""})


class _CountedWaits(AsyncRateLimitErrorRetryHandler):
    """Waits as long as Slack says, and counts how often it had to."""

    async def prepare_for_next_attempt_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> None:
        metrics.SLACK_LIMITED.inc()
        await super().prepare_for_next_attempt_async(state=state, request=request, response=response, error=error)


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
    """Who we are.

    Raises:
        SlackError: Slack refuses the bot token, or cannot be reached.
    """
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
    """A WebSocket address for Socket Mode, good for one connection.

    Raises:
        SlackError: Slack refuses the app-level token, or cannot be reached.
    """
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
