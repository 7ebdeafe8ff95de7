"""HTTP mode: Slack posts its payloads to us, and whoever runs the app can ask how it is."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Self

import structlog
from aiohttp import web
from pydantic import SecretStr
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier

from bot import metrics
from bot.errors import SlackError

EVENTS = "/slack/events"
_LARGEST_BODY = 4 * 2**20
_PATIENCE_S = 10.0  # Slack gives up after 3 s
_LAST_ANSWERS_S = 3.0
_OUT_OF_REACH = "the log is out of reach\n"

logger = structlog.get_logger(__name__)


class HttpFront:
    """Listens while entered: `/slack/events` for Slack, `/healthz`, `/readyz` and `/metrics` for everybody else.

    Args:
        app: What Slack's payloads are for.
        signing_secret: What Slack signs them with; not blank.
        host: Where to listen.
        port: And at which port.
        is_ready: Whether the bot can do its work right now.
        render_metrics: What `/metrics` says; None where it cannot be found out now.
    """

    def __init__(
        self,
        app: AsyncApp,
        signing_secret: SecretStr,
        host: str,
        port: int,
        is_ready: Callable[[], Awaitable[bool]],
        render_metrics: Callable[[], Awaitable[bytes | None]],
    ) -> None:
        self._app = app
        self._verifier = SignatureVerifier(signing_secret.get_secret_value())
        self._host = host
        self._port = port
        self._is_ready = is_ready
        self._render_metrics = render_metrics
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
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as exc:
            await self._runner.cleanup()
            where = f"HTTP_HOST {self._host}, HTTP_PORT {self._port}"
            raise SlackError(f"{where}: cannot listen there ({exc.strerror})") from exc
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
        try:
            return self._verifier.is_valid_request(body, headers)
        except (ValueError, OverflowError, TypeError):
            # A time stamp that is no number, or one too large for a clock; a body or signature that is no text.
            return False

    async def _healthz(self, _: web.Request) -> web.Response:
        """The process answers."""
        return web.Response(text="ok\n")

    async def _readyz(self, _: web.Request) -> web.Response:
        """The process answers, and can do its work."""
        if await self._is_ready():
            return web.Response(text="ok\n")
        return web.Response(status=503, text=_OUT_OF_REACH)

    async def _metrics(self, _: web.Request) -> web.Response:
        body = await self._render_metrics()
        if body is None:
            return web.Response(status=503, text=_OUT_OF_REACH)
        return web.Response(body=body, headers={"Content-Type": metrics.CONTENT_TYPE})
