"""An HTTP server that checks whether it answers."""

import pytest
from aiohttp import web

from bot.errors import SettingsError
from bot.http_server import Answer, HttpServer


async def greet(_: web.BaseRequest) -> web.Response:
    return web.Response(text="hello\n")


def a_server(answer: Answer = greet) -> HttpServer:
    return HttpServer(("HTTP_HOST", "HTTP_PORT"), "127.0.0.1", 0, answer)


async def test_it_is_answered_only_while_it_is_open() -> None:
    server = a_server()
    assert await server.is_connected() is False
    async with server:
        assert await server.is_connected() is True
    assert await server.is_connected() is False


async def test_a_port_in_use_gives_one_sentence() -> None:
    async with a_server() as server:
        assert server.address
        with pytest.raises(
            SettingsError,
            match=r"^METRICS_HOST 127.0.0.1, METRICS_PORT \d+: cannot listen there \(",
        ):
            await HttpServer(("METRICS_HOST", "METRICS_PORT"), *server.address, greet).__aenter__()
