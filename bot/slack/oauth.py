"""Installing the app by OAuth: the page where it begins, and the one to which Slack sends the
browser back.
"""

import logging
from collections.abc import Awaitable, Callable
from functools import partial

import structlog
from aiohttp import web
from pydantic import SecretStr
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncBoltRequest
from slack_bolt.error import BoltError
from slack_bolt.oauth.async_callback_options import (
    AsyncCallbackOptions,
    AsyncFailureArgs,
    AsyncSuccessArgs,
)
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.response import BoltResponse
from slack_sdk.oauth.installation_store import Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient

from bot.http_server import Answer
from bot.slack.manifest import bot_scopes

INSTALL = "/slack/install"
REDIRECT = "/slack/oauth_redirect"

logger = structlog.get_logger(__name__)


def install_pages(
    client: AsyncWebClient,
    client_id: str,
    client_secret: SecretStr,
    installations: AsyncInstallationStore,
    states: AsyncOAuthStateStore,
    announce: Callable[[Installation], Awaitable[None]],
) -> Answer:
    """What answers requests for `INSTALL` and `REDIRECT`; a cookie binds each state to the browser
    that began it. `announce` gets each new installation once it is stored.
    """

    async def succeed(args: AsyncSuccessArgs) -> BoltResponse:
        await announce(args.installation)
        return await args.default.success(args)

    quiet = logging.getLogger("slack_bolt.oauth")
    quiet.setLevel(logging.CRITICAL)  # it would log the code, which is a secret
    settings = AsyncOAuthSettings(
        client_id=client_id,
        client_secret=client_secret.get_secret_value(),
        scopes=bot_scopes(),
        user_scopes=[],
        install_path=INSTALL,
        redirect_uri_path=REDIRECT,
        authorization_url=f"{client.base_url.removesuffix('api/')}oauth/v2/authorize",
        installation_store=installations,
        installation_store_bot_only=True,
        state_store=states,
        callback_options=AsyncCallbackOptions(success=succeed, failure=_fail),
        logger=quiet,
    )
    return partial(_answer, AsyncOAuthFlow(client=client, logger=quiet, settings=settings))


async def _fail(args: AsyncFailureArgs) -> BoltResponse:
    """The store's own reason why it does not take an installation; otherwise Bolt's page."""
    if isinstance(args.error, BoltError):
        return BoltResponse(status=web.HTTPForbidden.status_code, body=f"{args.error}\n")
    return await args.default.failure(args)


async def _answer(flow: AsyncOAuthFlow, request: web.BaseRequest) -> web.Response:
    answer = await _page(flow, request)
    if request.can_read_body:
        # Nothing asks for the body of such a request, and its end could be waited for long.
        await answer.prepare(request)
        await answer.write_eof()
        request.protocol.force_close()
    return answer


async def _page(flow: AsyncOAuthFlow, request: web.BaseRequest) -> web.Response:
    if request.method != "GET" or request.path not in {INSTALL, REDIRECT}:
        return web.Response(status=404, text=f"expected GET {INSTALL}\n")
    # The body is not read: nothing in it is asked for, and reading it would wait for it.
    asked = AsyncBoltRequest(body="", query=request.query_string, headers={**request.headers})
    if request.path == INSTALL:
        return await to_aiohttp_response(await flow.handle_installation(asked))
    if "code" in request.query and "state" not in request.query:
        # From the admin's pages, Slack sends no state (bolt-js#1697); a code that anybody could
        # have sent is never used, so that installing begins again.
        return web.Response(status=302, headers={"Location": INSTALL})
    answer = await flow.handle_callback(asked)
    if answer.status >= web.HTTPBadRequest.status_code:
        logger.warning("not_installed", status=answer.status)
    return await to_aiohttp_response(answer)
