"""How Slack's payloads reach the app: over HTTP, or over Socket Mode."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import SecretStr

from bot.http_server import Answer, HttpServer
from bot.services import Services
from bot.slack.http import HTTP_SETTINGS, HttpFront
from bot.slack.incoming import SocketLink
from bot.workspaces import Workspaces

_NO_SECRET = SecretStr("")


@asynccontextmanager
async def open_link(
    services: Services, workspaces: Workspaces
) -> AsyncIterator[HttpFront | SocketLink]:
    """The open link, with the pages on which workspaces install the app beside it."""
    settings = services.settings
    traffic = services.traffic
    door = workspaces.door
    _ = workspaces.first_bolt  # made before a payload waits for it
    pages = _install_pages(services, workspaces)
    where = settings.http_host, settings.http_port
    if settings.serve_http:
        secret = settings.slack_signing_secret or _NO_SECRET
        async with HttpFront(door, secret, *where, traffic, pages) as front:
            yield front
        return
    app_token = settings.slack_app_token or _NO_SECRET
    socket = SocketLink(door, services.client, app_token, traffic)
    if pages is None:
        async with socket:
            yield socket
        return
    async with HttpServer(HTTP_SETTINGS, *where, pages), socket:
        yield socket


def _install_pages(services: Services, workspaces: Workspaces) -> Answer | None:
    settings = services.settings
    client_id = settings.slack_client_id
    secret = settings.slack_client_secret
    if not (workspaces.installations and client_id and secret):
        return None
    from bot.slack.oauth import install_pages
    from bot.store.installations import OAuthStates, TokenKeys

    states = OAuthStates(services.store.database, TokenKeys(settings.token_key_texts))
    return install_pages(
        services.client, client_id, secret, workspaces.installations, states, workspaces.announce
    )
