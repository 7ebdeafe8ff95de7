"""Raw connections to the bot's HTTP server."""

import asyncio

from bot.http_server import HttpServer
from tests.patience import ONLY_A_HANG_S

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connect(server: HttpServer, sent: bytes = b"") -> Stream:
    assert server.address
    reader, writer = await asyncio.open_connection(*server.address)
    writer.write(sent)
    await writer.drain()
    return reader, writer


async def heard(stream: Stream) -> bytes:
    """All bytes until the connection is closed."""
    reader, writer = stream
    try:
        async with asyncio.timeout(ONLY_A_HANG_S):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()
