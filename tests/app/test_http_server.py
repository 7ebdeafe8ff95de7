"""An HTTP server whose port may be taken."""

import pytest
from aiohttp import web

from bot.errors import SettingsError
from bot.http_server import HttpServer


async def greet(_: web.BaseRequest) -> web.Response:
    return web.Response(text="hello\n")


async def test_a_port_in_use_gives_one_sentence() -> None:
    async with HttpServer(("HTTP_HOST", "HTTP_PORT"), "127.0.0.1", 0, greet) as server:
        assert server.address
        with pytest.raises(
            SettingsError,
            match=r"^METRICS_HOST 127.0.0.1, METRICS_PORT \d+: cannot listen there \(",
        ):
            await HttpServer(("METRICS_HOST", "METRICS_PORT"), *server.address, greet).__aenter__()
