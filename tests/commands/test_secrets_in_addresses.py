"""Addresses that hold a secret, a Socket Mode ticket or a proxy's password: none of it is printed
or logged.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.pipeline.retries import in_brief
from tests.patience import ONLY_A_HANG_S
from tests.programs import run_process as run  # who asks which proxy is kept by a process
from tests.programs import start

TICKET = "TICKET-4711"
PASSWORD = "pr0xy-pw"


def tokens(folder: Path, **more: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "SLACK_BOT_TOKEN": "xoxb-1",
        "SLACK_APP_TOKEN": "xapp-1",
        "JUDGE_MODEL": "offline",
        "DATABASE_URL": f"sqlite+aiosqlite:///{folder}/log.db",
    } | more


@asynccontextmanager
async def slack_without_sockets() -> AsyncIterator[str]:
    """The Web API of a Slack that names a socket's address, and answers 500 there."""
    who = {
        "ok": True,
        "team_id": "T1",
        "url": "https://x.slack.com/",
        "user_id": "U1",
        "bot_id": "B1",
    }

    async def identify(_: web.Request) -> web.Response:
        return web.json_response(who)

    async def name_socket(_: web.Request) -> web.Response:
        url = f"ws://127.0.0.1:{server.port}/link/?ticket={TICKET}&app_id=A1"
        return web.json_response({"ok": True, "url": url})

    async def refuse(_: web.Request) -> web.Response:
        return web.Response(status=500)

    app = web.Application()
    app.router.add_post("/api/auth.test", identify)
    app.router.add_post("/api/apps.connections.open", name_socket)
    app.router.add_get("/link/", refuse)
    async with TestServer(app, host="127.0.0.1") as server:
        yield f"http://127.0.0.1:{server.port}/api/"


@pytest.mark.slow
async def test_the_ticket_of_a_socket_is_not_in_the_log(tmp_path: Path) -> None:
    async with slack_without_sockets() as url:
        process = await start("serve", tokens(tmp_path, SLACK_API_URL=url), tmp_path)
        async with asyncio.timeout(ONLY_A_HANG_S):
            said = await process.stderr.readuntil(b"Retrying")
        process.kill()
        said += (await process.communicate())[1]
    assert b"Failed to connect (error: 500" in said
    assert b"/link/?***" in said
    for secret in (TICKET, "A1"):
        assert secret.encode() not in said


class Proxy:
    """An HTTP proxy that answers 502, and remembers what it was asked to connect to."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.port = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked.append((await reader.readline()).decode().split(" HTTP")[0])
        writer.write(b"HTTP/1.1 502 no\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    @property
    def url(self) -> str:
        return f"http://ann:{PASSWORD}@127.0.0.1:{self.port}"


@pytest.fixture
async def proxy() -> AsyncIterator[Proxy]:
    proxy = Proxy()
    async with await asyncio.start_server(proxy.answer, "127.0.0.1", 0) as server:
        proxy.port = server.sockets[0].getsockname()[1]
        yield proxy


@pytest.mark.slow
async def test_a_proxys_password_is_not_printed(proxy: Proxy, tmp_path: Path) -> None:
    code, out, err = await run("serve", tokens(tmp_path, HTTPS_PROXY=proxy.url), tmp_path)
    assert code == 2
    assert "SLACK_API_URL https://slack.com/api/: cannot be reached (HTTP 502)" in out + err
    assert PASSWORD not in out + err
    assert set(proxy.asked) == {"CONNECT slack.com:443"}


@pytest.mark.slow
@pytest.mark.parametrize("login", ["", "ann:secret@"], ids=["aiohttp", "httpx2"])
async def test_the_models_traffic_goes_through_the_proxy(
    proxy: Proxy, tmp_path: Path, login: str
) -> None:
    """Two transports: an address with a login is not for aiohttp."""
    model = f"https://{login}model.example/v1"
    more = {
        "HTTPS_PROXY": proxy.url,
        "OPENAI_BASE_URL": model,
        "JUDGE_MODEL": "m",
        "JUDGE_TIMEOUT_S": "2",
    }
    _, out, err = await run("doctor", tokens(tmp_path, **more), tmp_path)
    assert set(proxy.asked) == {"CONNECT slack.com:443", "CONNECT model.example:443"}
    assert PASSWORD not in out + err


async def test_a_proxys_password_is_not_in_the_reason_why_a_case_waits(proxy: Proxy) -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientHttpProxyError, match=PASSWORD) as error:
            await session.get("https://slack.com/api/", proxy=proxy.url)
    assert in_brief(error.value) == "Slack cannot be reached: HTTP 502"
