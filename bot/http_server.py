"""A port for HTTP that strangers may reach: so many connections, so much time, and one request for each.

aiohttp's server bounds the size of headers alone. It would wait for them for ever (as uvicorn does, uvicorn#157), and
take connections until the process has no file descriptors left for its log, Slack and the model.
"""

import asyncio
import resource
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Self

import structlog
from aiohttp import web

from bot.errors import SettingsError

PATIENCE_S = 5.0
"""How long a connection has until its whole request is there; Slack itself gives up after 3 s."""
_ANSWERS_S = 3.0
_MOST_CONNECTIONS = 200
# The rest is the log's, Slack's and the model's, and theirs who have been taken in and are about to be closed.
_SHARE_OF_DESCRIPTORS = 4
_MOST_HEADERS = 64  # of 8 kB each at most
_LAST_ANSWERS_S = 3.0

Answer = Callable[[web.BaseRequest], Awaitable[web.Response]]

logger = structlog.get_logger(__name__)


def connections_at_most() -> int:
    """How many connections a port may have at once: 200, or a quarter of the process's file descriptors."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST_CONNECTIONS if descriptors < 0 else min(_MOST_CONNECTIONS, descriptors // _SHARE_OF_DESCRIPTORS)


class Port:
    """Listens while entered, and closes each connection with its answer: kept open, it could be closed in mid-request.

    Who has not brought a whole request within `patience_s` is dropped. Where there are more connections than `most`,
    the oldest that still waits for its request goes, and not the newest, which may be Slack's.

    Args:
        where: The names of the two settings that say so, for whoever reads that it is taken.
        host: Where to listen.
        port: And at which port; 0 takes a free one.
        answer: Answers a request, and says `trust` once it deserves an answer that may take its time.
        most: How many connections there may be at once.
        patience_s: How long a connection has until it is trusted.
    """

    def __init__(
        self,
        where: tuple[str, str],
        host: str,
        port: int,
        answer: Answer,
        most: int | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._where = where
        self._host = host
        self._port = port
        self._answer = answer
        self._most = connections_at_most() if most is None else most
        self._patience_s = patience_s
        self._server: _Server | None = None
        self._runner: web.ServerRunner | None = None

    async def __aenter__(self) -> Self:
        """Listens.

        Raises:
            SettingsError: The port is taken, or the host is none of this machine's.
        """
        self._server = _Server(self._answer, self._most, self._patience_s)
        self._runner = web.ServerRunner(self._server, shutdown_timeout=_LAST_ANSWERS_S)
        await self._runner.setup()
        try:
            # asyncio takes in as many at a time as may wait, before any of them can be closed.
            await web.TCPSite(self._runner, self._host, self._port, backlog=max(self._most // 2, 1)).start()
        except OSError as exc:
            await self.__aexit__()
            where = f"{self._where[0]} {self._host}, {self._where[1]} {self._port}"
            raise SettingsError(f"{where}: cannot listen there ({exc.strerror})") from exc
        logger.info("listening", address=str(self.address), most_connections=self._most)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            runner, self._runner = self._runner, None
            await runner.cleanup()

    @property
    def address(self) -> tuple[str, int] | None:
        """Host and port; None while nobody listens."""
        addresses = self._runner.addresses if self._runner else []
        return (addresses[0][0], addresses[0][1]) if addresses else None

    def trust(self, request: web.BaseRequest) -> None:
        """Lets the answer to this request take its time; its connection is not dropped any more."""
        if self._server is not None:
            self._server.trust(request.protocol)

    async def is_answered(self) -> bool:
        """Whether a request is answered right now: one of our own is sent there, as a stranger's would be."""
        if self.address is None:
            return False
        try:
            async with asyncio.timeout(_ANSWERS_S):
                reader, writer = await asyncio.open_connection(*self.address)
                try:
                    writer.write(b"HEAD / HTTP/1.0\r\n\r\n")
                    answer = await reader.readline()
                finally:
                    writer.close()
            if not answer:
                raise ConnectionResetError("the connection was dropped")
        except OSError as exc:  # TimeoutError is one
            logger.warning("port_unreachable", address=str(self.address), reason=str(exc) or "no answer in time")
            return False
        return True


class _Server(web.Server):
    """Knows each connection, and whether it has shown yet that it deserves time.

    aiohttp tells its server of each connection that comes and goes; there is no other place where the open ones can be
    counted before they have sent anything.
    """

    def __init__(self, answer: Answer, most: int, patience_s: float) -> None:
        async def answer_once(request: web.BaseRequest) -> web.Response:
            response = await answer(request)
            response.force_close()
            await _send_first(response, request)
            return response

        super().__init__(
            answer_once,
            access_log=None,
            auto_decompress=False,  # Slack signs, and sends, what is not compressed
            lingering_time=0,
            max_headers=_MOST_HEADERS,
        )
        self._most = most
        self._patience_s = patience_s
        self._waiting: dict[web.RequestHandler, tuple[asyncio.Transport, asyncio.TimerHandle]] = {}  # oldest first
        self._trusted: set[web.RequestHandler] = set()

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        deadline = asyncio.get_running_loop().call_later(self._patience_s, self._drop, handler)
        self._waiting[handler] = transport, deadline
        if len(self._waiting) + len(self._trusted) > self._most:
            logger.warning("too_many_connections", most=self._most, dropped="the oldest without a whole request")
            self._drop(next(iter(self._waiting)))

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        super().connection_lost(handler, exc)
        self._forget(handler)
        self._trusted.discard(handler)

    def trust(self, handler: web.RequestHandler) -> None:
        if self._forget(handler):
            self._trusted.add(handler)

    def _drop(self, handler: web.RequestHandler) -> None:
        if transport := self._forget(handler):
            # Not at once: aiohttp has not begun yet with a connection that has just come.
            asyncio.get_running_loop().call_soon(transport.abort)

    def _forget(self, handler: web.RequestHandler) -> asyncio.Transport | None:
        transport, deadline = self._waiting.pop(handler, (None, None))
        if deadline is not None:
            deadline.cancel()
        return transport


async def _send_first(response: web.Response, request: web.BaseRequest) -> None:
    """Sends an answer that does not wait for the body, and takes in the rest: closed before, the answer might be lost.

    aiohttp would do so by itself, but go on for seconds, holding what it has, after the client has left.
    """
    if request.content.is_eof():
        return
    with suppress(ConnectionError, web.RequestPayloadError):
        await response.prepare(request)
        await response.write_eof()
        async for _ in request.content.iter_any():
            pass
