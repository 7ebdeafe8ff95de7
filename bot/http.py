"""HTTP mode: Slack posts its payloads to us, and the machine room asks how we are."""

import asyncio
from typing import Self

import structlog
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp
from sqlalchemy.exc import DBAPIError

from bot import metrics
from bot.errors import SlackError
from bot.log import LapsedError, Log
from bot.settings import Settings

EVENTS = "/slack/events"
_LARGEST_BODY = 4 * 2**20

logger = structlog.get_logger(__name__)


class HttpFront:
    """Listens while entered: `/slack/events` for Slack, `/healthz`, `/readyz` and `/metrics` for everybody else."""

    def __init__(self, app: AsyncApp, settings: Settings, log: Log) -> None:
        self._app = app
        self._settings = settings
        self._log = log
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        """Listens.

        Raises:
            SlackError: The port is taken, or the host is none of this machine's.
        """
        server = web.Application(client_max_size=_LARGEST_BODY)
        server.add_routes(
            [
                web.post(EVENTS, self._events),
                web.get("/healthz", self._healthz),
                web.get("/readyz", self._readyz),
                web.get("/metrics", self._metrics),
            ]
        )
        self._runner = web.AppRunner(server, access_log=None)
        await self._runner.setup()
        host, port = self._settings.http_host, self._settings.http_port
        try:
            await web.TCPSite(self._runner, host, port).start()
        except OSError as exc:
            await self._runner.cleanup()
            raise SlackError(f"HTTP_HOST {host}, HTTP_PORT {port}: cannot listen there ({exc.strerror})") from exc
        logger.info("listening", address=str(self._runner.addresses[0]))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def is_connected(self) -> bool:
        """Whether payloads can come in right now."""
        return self._runner is not None

    async def watch(self) -> None:
        """Returns never: there is no connection that could be lost."""
        await asyncio.Event().wait()

    async def _events(self, request: web.Request) -> web.Response:
        return await to_aiohttp_response(await self._app.async_dispatch(await to_bolt_request(request)))

    async def _healthz(self, _: web.Request) -> web.Response:
        """The process answers."""
        return web.Response(text="ok\n")

    async def _readyz(self, _: web.Request) -> web.Response:
        """The process answers, has its place among the others, and reaches the log."""
        try:
            self._log.presence.check()
            await self._log.counts()
        except (LapsedError, DBAPIError, OSError):
            return web.Response(status=503, text="the log is out of reach\n")
        return web.Response(text="ok\n")

    async def _metrics(self, _: web.Request) -> web.Response:
        body = metrics.render(await self._log.counts())
        return web.Response(body=body, headers={"Content-Type": metrics.CONTENT_TYPE})
