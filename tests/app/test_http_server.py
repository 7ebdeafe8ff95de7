"""A port that strangers may reach: who does not bring a whole request goes, and never keeps out who does."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web

from bot.errors import SettingsError
from bot.http_server import Port, connections_at_most
from tests.descriptors import descriptors

WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HALF = b"GET / HTTP/1.1\r\nHost: x\r\nX-Half: "
REST = b"done\r\n\r\n"
FOR_EVER_S = 3600.0
TOO_LONG_S = 20.0
SOON_S = 0.05
A_WHILE_S = 1.0  # long enough for a request of this very process, however busy the machine is

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def greet(_: web.BaseRequest) -> web.Response:
    return web.Response(text="hello\n")


def open_port(answer: Callable[[web.BaseRequest], Awaitable[web.Response]] = greet, **limits: float) -> Port:
    given: dict[str, float] = {"patience_s": FOR_EVER_S} | limits
    return Port(("HTTP_HOST", "HTTP_PORT"), "127.0.0.1", 0, answer, **given)  # type: ignore[arg-type]


async def connect(port: Port, sent: bytes = b"") -> Stream:
    assert port.address
    reader, writer = await asyncio.open_connection(*port.address)
    writer.write(sent)
    await writer.drain()
    return reader, writer


async def heard(stream: Stream) -> bytes:
    """Everything until the connection is closed."""
    reader, writer = stream
    try:
        async with asyncio.timeout(TOO_LONG_S):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


class Desk:
    """Trusts whoever asks, and answers once the test says so."""

    def __init__(self, **limits: float) -> None:
        self.port = open_port(self._answer, **limits)
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        self.port.trust(request)
        self.asked.set()
        await self.may_answer.wait()
        return web.Response(text="hello\n")


@pytest.mark.parametrize("sent", [b"", b"GET /", HALF], ids=["nothing", "half a line", "half the headers"])
async def test_who_sends_no_whole_request_is_dropped(sent: bytes) -> None:
    async with open_port(patience_s=SOON_S) as port:
        assert await heard(await connect(port, sent)) == b""


async def test_a_connection_is_closed_with_its_answer() -> None:
    async with open_port() as port:
        said = await heard(await connect(port, WHOLE + WHOLE))
    assert said.count(b"200 OK") == 1
    assert b"Connection: close" in said


async def test_the_oldest_half_sent_request_makes_room_for_a_whole_one() -> None:
    async with open_port(most=3) as port:
        oldest, middle, latest = [await connect(port, HALF) for _ in range(3)]
        assert b"hello" in await heard(await connect(port, WHOLE))
        assert await heard(oldest) == b""
        for stream in (middle, latest):
            stream[1].write(REST)
            assert b"hello" in await heard(stream)


async def test_who_is_trusted_gets_all_the_time() -> None:
    desk = Desk(patience_s=A_WHILE_S)
    async with desk.port as port:
        trusted = await connect(port, WHOLE)
        await desk.asked.wait()
        assert await heard(await connect(port)) == b""  # and so the patience with the first is over as well
        desk.may_answer.set()
        assert b"hello" in await heard(trusted)


async def test_where_all_are_trusted_who_comes_last_is_turned_away() -> None:
    desk = Desk(most=1)
    async with desk.port as port:
        trusted = await connect(port, WHOLE)
        await desk.asked.wait()
        assert await heard(await connect(port, WHOLE)) == b""
        assert await port.is_answered() is False
        desk.may_answer.set()
        assert b"hello" in await heard(trusted)
        assert await port.is_answered() is True


async def test_it_is_answered_while_it_is_open_alone() -> None:
    port = open_port()
    assert await port.is_answered() is False
    async with port:
        assert await port.is_answered() is True
    assert await port.is_answered() is False


async def test_a_connection_without_an_answer_is_none() -> None:
    async def hang_up(request: web.BaseRequest) -> web.Response:
        assert request.transport
        request.transport.abort()
        return web.Response()

    async with open_port(hang_up) as port:
        assert await port.is_answered() is False


async def test_nothing_is_answered_without_a_file_descriptor_left() -> None:
    async with open_port() as port:
        with descriptors(0):
            assert await port.is_answered() is False
        assert await port.is_answered() is True


async def test_headers_take_little_memory() -> None:
    async with open_port() as port:
        for number, length, status in [(60, 1, b"200"), (70, 1, b"400"), (1, 9000, b"400")]:
            headers = b"".join(b"X-%d: %s\r\n" % (each, b"x" * length) for each in range(number))
            said = await heard(await connect(port, b"GET / HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n"))
            assert said.split()[1] == status


@pytest.mark.parametrize(("free", "most"), [(100, 25), (1024, 200)])
def test_most_file_descriptors_are_left_to_others(free: int, most: int) -> None:
    with descriptors(free):
        assert connections_at_most() == most


async def test_a_port_that_is_taken_is_one_sentence() -> None:
    async with open_port() as port:
        assert port.address
        with pytest.raises(SettingsError, match=r"^METRICS_HOST 127.0.0.1, METRICS_PORT \d+: cannot listen there \("):
            await Port(("METRICS_HOST", "METRICS_PORT"), *port.address, greet).__aenter__()
