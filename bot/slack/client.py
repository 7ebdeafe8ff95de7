"""The connection to Slack's Web API: the client, the app's identity, and what errors mean."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import aiohttp
import structlog
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot import metrics
from bot.domain.shared import AnswerCache, V
from bot.errors import SlackError

logger = structlog.get_logger(__name__)

# None: an error page instead of an answer of Slack's.
_PASSING = {
    None,
    "ratelimited",
    "rate_limited",
    "internal_error",
    "fatal_error",
    "service_unavailable",
    "request_timeout",
    "team_added_to_org",
}
# The operator has to fix these; until then they say nothing about the message or the channel.
_NOT_LET_IN = {
    "invalid_auth",
    "not_authed",
    "account_inactive",
    "token_revoked",
    "token_expired",
    "accesslimited",
    "org_login_required",
    "ekm_access_denied",
    "two_factor_setup_required",
}


SLACK_ERRORS = (SlackApiError, aiohttp.ClientError, TimeoutError)
"""What a call of Slack raises: Slack refuses it, cannot be reached, or does not answer in time."""


def error_of(exc: SlackApiError) -> str | None:
    """Slack's error code; None if something else answered in Slack's place, such as a proxy."""
    return _said(exc, "error")


def needed_scope(exc: SlackApiError) -> str | None:
    """The scope that Slack says the call needs; None if that was not what was wrong."""
    return _said(exc, "needed")


def _said(exc: SlackApiError, name: str) -> str | None:
    data = getattr(exc.response, "data", None)
    return data.get(name) if isinstance(data, dict) else None


def is_passing(exc: SlackApiError) -> bool:
    """Whether the failure is temporary; Slack may have carried out the call nevertheless."""
    return error_of(exc) in _PASSING


def is_transient(exc: SlackApiError) -> bool:
    """Whether the same call may succeed later, by itself or after the operator has fixed the token."""
    return is_passing(exc) or error_of(exc) in _NOT_LET_IN


def slack_word(exc: SlackApiError | aiohttp.ClientError | TimeoutError) -> str:
    """Slack's error code, or the HTTP status if it gave none, for the sentence that a person reads."""
    if not isinstance(exc, SlackApiError):
        return "no answer"
    return error_of(exc) or f"HTTP {_status_of(exc)}"


def _status_of(exc: SlackApiError) -> int | None:
    # The response is slack-sdk's own, or aiohttp's if the body is not JSON.
    return getattr(exc.response, "status_code", None) or getattr(exc.response, "status", None)


def connection_word(exc: Exception) -> str:
    """What went wrong on the way to Slack: the HTTP status or the system's words; others may quote
    a proxy's login.
    """
    status = getattr(exc, "status", None)
    return (
        f"HTTP {status}"
        if status
        else getattr(getattr(exc, "os_error", exc), "strerror", None) or "no answer"
    )


class RefusedCallError(SlackApiError):
    """Slack permanently refuses a call."""


async def or_refusal(call: Awaitable[V]) -> V:
    """What a call returns; raises RefusedCallError if Slack permanently refuses it, transient
    errors as they are.
    """
    try:
        return await call
    except SlackApiError as exc:
        if is_transient(exc):
            raise
        raise RefusedCallError("Slack refuses the call", exc.response) from exc  # type: ignore[no-untyped-call]


async def refusal_of(call: Awaitable[object]) -> str | None:
    """Slack's error code if it permanently refuses a call, or None if the call succeeds; raises
    transient errors.
    """
    try:
        await or_refusal(call)
    except RefusedCallError as exc:
        return slack_word(exc)
    return None


async def unless_refused(call: Awaitable[V]) -> V | None:
    """What a call returns, or None if Slack permanently refuses it; raises transient errors."""
    with suppress(RefusedCallError):
        return await or_refusal(call)
    return None


MISSING = "missing_scope"
"""Slack's error code for a scope that was not granted."""

_MOST_WAITS = 2


class SlackClient(AsyncWebClient):
    """A client that waits when Slack limits it, and never repeats a post by itself.

    slack-sdk by default repeats a call after a lost connection, which duplicates a message that
    Slack had accepted. `team_id` is that of the workspace or the organisation that has installed
    the app, if any has.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession | None,
        base_url: str,
        token: str | None,
        team_id: str = "",
    ) -> None:
        super().__init__(token, base_url, _TIMEOUT_S, session=session, retry_handlers=[])
        self.team_id = team_id
        self._teams = AnswerCache(self._list_teams, kept_s=60.0, most=1)
        self._limited_until: dict[tuple[str, object], float] = {}

    async def teams(self) -> Sequence[str | None]:
        """The workspaces of the client's organisation, read at most once a minute: others may join
        it.

        None stands for the only one of its token.
        """
        return await self._teams.get(None) if self.team_id.startswith("E") else [None]

    async def _list_teams(self, _: None) -> Sequence[str]:
        return [
            each["id"]
            async for page in await self.auth_teams_list(limit=999)
            for each in page["teams"]
        ]

    async def api_call(self, api_method: str, **arguments: Any) -> AsyncSlackResponse:
        """Calls Slack. If Slack tells a call to wait, all calls that share its limit wait, each at
        most twice.

        Posts are limited by channel, other calls by method:
        https://docs.slack.dev/apis/web-api/rate-limits
        """
        limit = (
            api_method,
            arguments["json"].get("channel") if api_method == "chat.postMessage" else None,
        )
        waits = 0
        while True:
            pause_s = self._limited_until.get(limit, 0.0) - time.monotonic()
            if waits == _MOST_WAITS or pause_s <= 0:
                try:
                    return await super().api_call(api_method, **arguments)
                except SlackApiError as exc:
                    if _status_of(exc) != 429:
                        raise
                    metrics.SLACK_LIMITED.inc()
                    told = str(exc.response.headers.get("Retry-After"))
                    pause_s = float(told) if told.isdigit() else 1.0
                    until = time.monotonic() + pause_s
                    logger.warning(
                        "slack_limits", method=api_method, wait_s=pause_s, team=self.team_id or None
                    )
                    self._limited_until[limit] = max(self._limited_until.get(limit, 0.0), until)
                    if waits == _MOST_WAITS:
                        raise
            waits += 1
            # Not all at the same moment: if the first is refused again, the others keep waiting
            # without asking.
            await asyncio.sleep(pause_s + random.random())  # noqa: S311


_TIMEOUT_S = 30
# Slack closes idle connections; if a post on a closing one fails, it is unknown whether it arrived.
_KEEP_ALIVE_S = 10
_APP = "api.slack.com/apps > your app"
_AGAIN = "install the app there again at /slack/install"
_MEND = {
    "invalid_auth": f"copy the token again ({_APP})",
    "not_authed": f"copy the token again ({_APP})",
    "account_inactive": "the app was removed from the workspace; install it again",
    "token_revoked": "install the app again and copy the new token",
    "token_expired": "switch off token rotation in the app's settings, and reinstall the app",
    "missing_scope": "make an app-level token with the scope connections:write",
    "not_allowed_token_type": "this setting needs another kind of token",
    "socket_mode_not_enabled": f"switch Socket Mode on ({_APP} > Socket Mode)",
}


@dataclass(frozen=True)
class Identity:
    """Who the bot token belongs to, according to `auth.test`."""

    team_id: str
    team: str
    url: str
    user_id: str
    user: str
    bot_id: str
    scopes: frozenset[str]
    enterprise_id: str | None = None

    @property
    def teams(self) -> frozenset[str]:
        """The ids by which Slack names whom the app's own people belong to."""
        return frozenset({self.team_id, self.enterprise_id or self.team_id})

    @property
    def own_ids(self) -> frozenset[str]:
        return frozenset({self.user_id, self.bot_id} - {""})


@asynccontextmanager
async def web_client(token: SecretStr | None, api_url: str) -> AsyncIterator[SlackClient]:
    """A client with connections of its own, which those that `with_token` makes of it share."""
    connector = aiohttp.TCPConnector(keepalive_timeout=_KEEP_ALIVE_S)
    timeout = aiohttp.ClientTimeout(total=_TIMEOUT_S)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        yield SlackClient(session, api_url, token.get_secret_value() if token else None)


def with_token(client: SlackClient, token: str | None, team_id: str) -> SlackClient:
    """A client for another workspace over the same connections; Slack limits each workspace for
    itself.
    """
    return SlackClient(client.session, client.base_url, token, team_id)


async def identify(client: SlackClient) -> Identity:
    """The app's identity; raises SlackError if Slack refuses the bot token or cannot be reached."""
    team_id = client.team_id
    if team_id and client.token is None:
        raise SlackError(
            f"{team_id}: TOKEN_KEYS: no key reads its token; add the key that was in use"
        )
    found = to_identity(
        await _at_start(client.auth_test(), team_id or "SLACK_BOT_TOKEN", client.base_url)
    )
    return replace(found, team_id=team_id or found.team_id)


NOBODY = Identity("", "", "", "", "", "", frozenset())
"""Stands for the workspaces that the app is not installed in."""


def to_identity(answer: AsyncSlackResponse) -> Identity:
    """The identity in an answer of `auth.test`, and the token's scopes in its headers, if Slack
    lists them there.
    """
    listed = answer.headers.get("x-oauth-scopes") or ""
    return Identity(
        team_id=answer["team_id"],
        team=answer.get("team") or "",
        url=answer.get("url") or "",
        user_id=answer["user_id"],
        user=answer.get("user") or "",
        bot_id=answer.get("bot_id") or "",
        scopes=frozenset(listed.replace(",", " ").split()),
        enterprise_id=answer.get("enterprise_id"),
    )


async def open_socket_url(client: AsyncWebClient, app_token: SecretStr) -> str:
    """A WebSocket address for Socket Mode, valid for one connection; raises SlackError like
    `identify`.
    """
    call = client.apps_connections_open(app_token=app_token.get_secret_value())
    return str((await _at_start(call, "SLACK_APP_TOKEN", client.base_url))["url"])


async def _at_start(
    call: Awaitable[AsyncSlackResponse], setting: str, base_url: str
) -> AsyncSlackResponse:
    try:
        return await call
    except SlackApiError as exc:
        if is_passing(exc):
            raise SlackError(
                f"SLACK_API_URL {base_url}: cannot answer now (Slack: {slack_word(exc)}); try again"
            ) from exc
        error = slack_word(exc)
        is_installed = not setting.startswith("SLACK_")
        mend = _AGAIN if is_installed else _MEND.get(error, "docs.slack.dev explains the error")
        raise SlackError(f"{setting}: Slack refuses it ({error}); {mend}") from exc
    except (aiohttp.ClientError, TimeoutError) as exc:
        raise SlackError(
            f"SLACK_API_URL {base_url}: cannot be reached ({connection_word(exc)}); "
            "check the network of this machine, and HTTPS_PROXY if it needs a proxy"
        ) from exc
