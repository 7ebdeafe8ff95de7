"""An HTTP server that checks whether it answers."""

import pytest
from aiohttp import web

from bot.errors import SettingsError
from bot.http_server import Answer, HttpServer
from tests.descriptors import descriptors


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


async def test_a_connection_without_a_response_counts_as_not_answered() -> None:
    async def hang_up(request: web.BaseRequest) -> web.Response:
        request.transport.abort()
        return web.Response()

    async with a_server(hang_up) as server:
        assert await server.is_connected() is False


async def test_it_is_not_answered_if_no_file_descriptor_is_left() -> None:
    async with a_server() as server:
        with descriptors(0):
            assert await server.is_connected() is False
        assert await server.is_connected() is True


async def test_a_port_in_use_gives_one_sentence() -> None:
    async with a_server() as server:
        assert server.address
        with pytest.raises(
            SettingsError,
            match=r"^METRICS_HOST 127.0.0.1, METRICS_PORT \d+: cannot listen there \(",
        ):
            await HttpServer(("METRICS_HOST", "METRICS_PORT"), *server.address, greet).__aenter__()
