"""An HTTP server on its own port.

If it is reachable from outside, put a proxy in front of it: see `deploy/`.
"""

from collections.abc import Awaitable, Callable
from typing import Self

import structlog
from aiohttp import web

from bot.errors import SettingsError

Answer = Callable[[web.BaseRequest], Awaitable[web.Response]]

logger = structlog.get_logger(__name__)


class HttpServer:
    """Listens while its context is open; port 0 takes a free one.

    `where` names the settings of a taken port.
    """

    def __init__(self, where: tuple[str, str], host: str, port: int, answer: Answer) -> None:
        self._where = where
        self._host = host
        self._port = port
        # Slack sends uncompressed bodies, and signs them as sent.
        server = web.Server(answer, access_log=None, auto_decompress=False)
        self._runner = web.ServerRunner(server, shutdown_timeout=3.0)

    async def __aenter__(self) -> Self:
        """Starts to listen; raises SettingsError if the port is taken, or the host is no address of
        this machine.
        """
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as exc:
            await self.__aexit__()
            where = f"{self._where[0]} {self._host}, {self._where[1]} {self._port}"
            raise SettingsError(f"{where}: cannot listen there ({exc.strerror})") from exc
        logger.info("listening", address=str(self.address))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    @property
    def address(self) -> tuple[str, int] | None:
        """Host and port, or None while the server does not listen."""
        return next(((host, port) for host, port, *_ in self._runner.addresses), None)

    async def is_connected(self) -> bool:
        """Whether the server listens."""
        return self.address is not None
