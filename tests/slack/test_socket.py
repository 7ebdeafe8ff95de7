"""A connection that dies: it comes back, or the process leaves and says so."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from pydantic import SecretStr
from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.errors import SlackError
from bot.slack import ids
from bot.slack.client import web_client
from bot.slack.incoming import SocketLink, Traffic
from pocket_slack import Limits, Sandbox
from tests.patience import ONLY_A_HANG_S
from tests.postgres import free_port
from tests.programs import pocket_slack
from tests.stage import CHANNEL

Take = Callable[[str], Awaitable[object]]


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with pocket_slack() as slack:
        yield slack


@asynccontextmanager
async def linked(
    slack: Sandbox,
    take: Take = lambda _: asyncio.sleep(0),
    traffic: Traffic | None = None,
    api_url: str = "",
    patience_s: float = ONLY_A_HANG_S,
) -> AsyncIterator[SocketLink]:
    """A connection, over which a command is acknowledged once `take` has taken its text."""
    async with web_client(SecretStr(slack.bot_token), api_url or slack.api_url) as client:
        app = AsyncApp(client=client, request_verification_enabled=False)

        @app.command(ids.COMMAND)
        async def acknowledge(ack: AsyncAck, command: dict[str, str]) -> None:
            await take(command["text"])
            await ack()

        async def door(_: dict[str, Any]) -> AsyncApp:
            return app

        token = SecretStr(slack.app_token)
        async with SocketLink(door, client, token, traffic or Traffic(), patience_s) as link:
            await slack.connected(timeout_s=ONLY_A_HANG_S)
            yield link


class Gate:
    """Notes what comes, and lets nothing through before it is open."""

    def __init__(self) -> None:
        self.came: list[str] = []
        self.begun = asyncio.Event()
        self.is_open = asyncio.Event()

    async def take(self, text: str) -> None:
        self.came.append(text)
        self.begun.set()
        await self.is_open.wait()


async def test_a_connection_that_is_dropped_comes_back(slack: Sandbox) -> None:
    async with linked(slack) as link:
        await slack.sockets.drop()
        await slack.until(lambda: not slack.sockets.open)
        await slack.connected(timeout_s=ONLY_A_HANG_S)
        async with asyncio.timeout(ONLY_A_HANG_S):
            while not await link.is_connected():  # noqa: ASYNC110 - the client tells nobody
                await asyncio.sleep(0.01)


async def test_what_has_come_in_is_acked_before_the_connection_is_closed(
    slack: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    gate = Gate()
    async with linked(slack, gate.take):
        delivery = slack.person("ann").command(CHANNEL, ids.COMMAND, "help")
        await gate.begun.wait()
        asyncio.get_running_loop().call_soon(gate.is_open.set)
    await slack.settled(delivery)
    assert delivery.is_acked
    assert [each for each in caplog.records if each.levelname in {"WARNING", "ERROR"}] == []


async def test_what_is_too_much_at_once_is_neither_acked_nor_accepted() -> None:
    gate = Gate()
    async with (
        pocket_slack(limits=Limits.off()) as slack,
        linked(slack, gate.take, Traffic(most=1)),
    ):
        first = slack.person("ann").command(CHANNEL, ids.COMMAND, "first")
        await gate.begun.wait()
        second = slack.person("ann").command(CHANNEL, ids.COMMAND, "second")
        await slack.settled(second)  # Slack has waited for 3 s, and tells ann that it failed
        gate.is_open.set()
        await slack.settled(first)
    assert (gate.came, second.is_acked) == (["first"], False)


async def test_a_connection_that_does_not_come_back_ends_the_watch(slack: Sandbox) -> None:
    async with linked(slack) as link:
        link.patience_s = 0.4
        slack.fail("apps.connections.open", status=500, times=1000)
        await slack.sockets.drop()
        with pytest.raises(SlackError, match="is lost and cannot be restored"):
            await asyncio.wait_for(link.watch(), ONLY_A_HANG_S)


async def test_a_socket_that_is_refused_at_start_is_not_tried_for_ever(slack: Sandbox) -> None:
    async def give_a_dead_address(_: web.Request) -> web.Response:
        return web.json_response({"ok": True, "url": f"ws://127.0.0.1:{free_port()}/link"})

    api = web.Application()
    api.router.add_post("/api/apps.connections.open", give_a_dead_address)
    async with TestServer(api) as server:
        refused = linked(slack, api_url=str(server.make_url("/api/")), patience_s=0.4)
        with pytest.raises(SlackError, match="a connection to it failed"):
            async with asyncio.timeout(ONLY_A_HANG_S), refused:
                pass
