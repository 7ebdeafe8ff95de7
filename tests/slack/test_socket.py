"""A connection that dies: it comes back, or the process leaves and says so."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from pydantic import SecretStr
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import SlackError
from bot.settings import Settings
from bot.slack import ids
from bot.slack.client import web_client
from bot.slack.incoming import Door, SocketLink, Traffic
from pocket_slack import Limits, Sandbox
from tests.model_server import ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.postgres import free_port
from tests.programs import pocket_slack
from tests.stage import CHANNEL, make_settings


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with pocket_slack() as slack:
        yield slack


def client_of(
    slack: Sandbox, model_server: ModelServer, folder: Path
) -> AbstractAsyncContextManager[AsyncWebClient]:
    settings: Settings = make_settings(slack, model_server, folder)
    return web_client(settings.slack_bot_token, settings.slack_api_url)


def to(app: AsyncApp) -> Door:
    async def door(_: dict[str, Any]) -> AsyncApp:
        return app

    return door


@pytest.fixture
async def link(
    slack: Sandbox, model_server: ModelServer, tmp_path: Path
) -> AsyncIterator[SocketLink]:
    async with client_of(slack, model_server, tmp_path) as client:
        app = AsyncApp(client=client, request_verification_enabled=False)
        async with SocketLink(to(app), client, SecretStr(slack.app_token), Traffic()) as link:
            await slack.connected(timeout_s=ONLY_A_HANG_S)
            yield link


async def test_a_connection_that_is_dropped_comes_back(slack: Sandbox, link: SocketLink) -> None:
    await slack.sockets.drop()
    await slack.until(lambda: not slack.sockets.open)
    await slack.connected(timeout_s=ONLY_A_HANG_S)
    async with asyncio.timeout(ONLY_A_HANG_S):
        while not await link.is_connected():  # noqa: ASYNC110 - the client tells nobody
            await asyncio.sleep(0.01)


async def test_what_has_come_in_is_acked_before_the_connection_is_closed(
    slack: Sandbox, model_server: ModelServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings: Settings = make_settings(slack, model_server, tmp_path)
    begun = asyncio.Event()
    may_ack = asyncio.Event()
    async with web_client(settings.slack_bot_token, settings.slack_api_url) as client:
        app = AsyncApp(client=client, request_verification_enabled=False)

        @app.command(ids.COMMAND)
        async def take_long(ack: AsyncAck) -> None:
            begun.set()
            await may_ack.wait()
            await ack()

        async with SocketLink(to(app), client, SecretStr(slack.app_token), Traffic()):
            delivery = slack.person("ann").command(CHANNEL, ids.COMMAND, "help")
            await begun.wait()
            asyncio.get_running_loop().call_soon(may_ack.set)
    await slack.settled(delivery)
    assert delivery.is_acked
    assert [
        record.message for record in caplog.records if record.levelname in {"WARNING", "ERROR"}
    ] == []


async def test_what_is_too_much_at_once_is_neither_acked_nor_accepted(
    model_server: ModelServer, tmp_path: Path
) -> None:
    heard: list[str] = []
    begun = asyncio.Event()
    may_ack = asyncio.Event()
    async with (
        pocket_slack(limits=Limits.off()) as slack,
        client_of(slack, model_server, tmp_path) as client,
    ):
        app = AsyncApp(client=client, request_verification_enabled=False)

        @app.command(ids.COMMAND)
        async def take_long(ack: AsyncAck, command: dict[str, str]) -> None:
            heard.append(command["text"])
            begun.set()
            await may_ack.wait()
            await ack()

        async with SocketLink(to(app), client, SecretStr(slack.app_token), Traffic(most=1)):
            first = slack.person("ann").command(CHANNEL, ids.COMMAND, "first")
            await begun.wait()
            second = slack.person("ann").command(CHANNEL, ids.COMMAND, "second")
            await slack.settled(second)  # Slack has waited for 3 s, and tells ann that it failed
            may_ack.set()
            await slack.settled(first)
    assert (heard, second.is_acked) == (["first"], False)


async def test_a_connection_that_does_not_come_back_ends_the_watch(
    slack: Sandbox, link: SocketLink
) -> None:
    slack.fail("apps.connections.open", status=500, times=1000)
    await slack.sockets.drop()
    link.patience_s = 0.4
    with pytest.raises(SlackError, match="is lost and cannot be restored"):
        await asyncio.wait_for(link.watch(), ONLY_A_HANG_S)


async def test_a_socket_that_is_refused_at_start_is_not_tried_for_ever(
    model_server: ModelServer, tmp_path: Path
) -> None:
    async def give_a_dead_address(_: web.Request) -> web.Response:
        return web.json_response({"ok": True, "url": f"ws://127.0.0.1:{free_port()}/link"})

    api = web.Application()
    api.router.add_post("/api/apps.connections.open", give_a_dead_address)
    async with TestServer(api) as server, pocket_slack() as slack:
        address = str(server.make_url("/api/"))
        settings = make_settings(slack, model_server, tmp_path, slack_api_url=address)
        async with web_client(settings.slack_bot_token, settings.slack_api_url) as client:
            app = AsyncApp(client=client, request_verification_enabled=False)
            link = SocketLink(
                to(app), client, SecretStr(slack.app_token), Traffic(), patience_s=0.4
            )
            with pytest.raises(SlackError, match="a connection to it failed"):
                async with asyncio.timeout(ONLY_A_HANG_S), link:
                    pass
