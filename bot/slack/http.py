"""HTTP mode: Slack posts its payloads to us, and the machine room asks how we are."""

import asyncio
import hmac
import re
import time
from collections.abc import Mapping
from hashlib import sha256
from typing import Self

import structlog
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp

from bot import metrics
from bot.errors import SlackError
from bot.log import LapsedError, Log
from bot.log.errors import LOG_ERRORS
from bot.settings import Settings

EVENTS = "/slack/events"
_LARGEST_BODY = 4 * 2**20
_PATIENCE_S = 10.0  # Slack gives up after 3 s
_LAST_ANSWERS_S = 3.0
_OLDEST_S = 300  # so that a request cannot be sent again later
_STAMP = re.compile("[0-9]{1,12}")  # longer ones are no time, and soon too large to reckon with

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
        self._runner = web.AppRunner(server, access_log=None, shutdown_timeout=_LAST_ANSWERS_S)
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
        try:
            async with asyncio.timeout(_PATIENCE_S):
                body = await request.read()
        except TimeoutError:
            return web.Response(status=408, text="the body did not come in time\n")
        except web.RequestPayloadError:
            return web.Response(status=400, text="the body cannot be decoded\n")
        # Looked at here, before anything reads the body: what is not Slack's must not even be apologised to.
        if not self._is_slacks(body, request.headers):
            return web.json_response({"error": "invalid request"}, status=401)
        return await to_aiohttp_response(await self._app.async_dispatch(await to_bolt_request(request)))

    def _is_slacks(self, body: bytes, headers: Mapping[str, str]) -> bool:
        """Source: https://docs.slack.dev/authentication/verifying-requests-from-slack"""
        stamp, given = headers.get("X-Slack-Request-Timestamp", ""), headers.get("X-Slack-Signature", "")
        if not _STAMP.fullmatch(stamp) or abs(time.time() - int(stamp)) > _OLDEST_S:
            return False
        secret = self._settings.slack_signing_secret
        key = secret.get_secret_value() if secret else ""
        expected = hmac.new(key.encode(), b"v0:%s:%s" % (stamp.encode(), body), sha256).hexdigest()
        return bool(key) and hmac.compare_digest(f"v0={expected}".encode(), given.encode("utf-8", "replace"))

    async def _healthz(self, _: web.Request) -> web.Response:
        """The process answers."""
        return web.Response(text="ok\n")

    async def _readyz(self, _: web.Request) -> web.Response:
        """The process answers, has its place among the others, and reaches the log."""
        try:
            self._log.presence.check()
            await self._log.ping()
        except (LapsedError, *LOG_ERRORS):
            return web.Response(status=503, text="the log is out of reach\n")
        return web.Response(text="ok\n")

    async def _metrics(self, _: web.Request) -> web.Response:
        try:
            body = metrics.render(await self._log.counts())
        except LOG_ERRORS:
            return web.Response(status=503, text="the log is out of reach\n")
        return web.Response(body=body, headers={"Content-Type": metrics.CONTENT_TYPE})
