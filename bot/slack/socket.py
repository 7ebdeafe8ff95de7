"""The Socket Mode connection, and whether it is alive."""

import asyncio
import logging
from typing import Self

import structlog
from pydantic import SecretStr
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from bot.errors import SlackError
from bot.slack.client import open_socket_url
from bot.slack.incoming import MOST, Takes, Traffic, nothing

_LOOKS = 8
# slack-sdk takes a connection without an answer to its pings for dead after 20 s; together they make a minute.
_PATIENCE_S = 40.0
_ACK_S = 3.0  # then Slack has told the person that it failed: https://docs.slack.dev/apis/events-api/using-socket-mode

logger = structlog.get_logger(__name__)


class _Handler(AsyncSocketModeHandler):
    """Acks what has come in before it leaves. Slack says of what comes later that it failed, or sends it again."""

    def __init__(self, app: AsyncApp, app_token: SecretStr, takes: Takes, traffic: Traffic) -> None:
        super().__init__(app, app_token.get_secret_value(), logger=logging.getLogger("slack_sdk.socket_mode"))
        self._takes = takes
        self._traffic = traffic
        self._under_way: set[asyncio.Task[None]] = set()
        self._is_leaving = False

    async def handle(self, client: SocketModeClient, req: SocketModeRequest) -> None:  # type: ignore[override]
        if self._is_leaving:
            return
        if self._traffic.is_full:
            # Not acknowledged and not accepted: Slack tells the person so, and sends an event once more.
            logger.warning("payload_refused", reason="too many at once", most=MOST)
            return
        work = asyncio.ensure_future(self._serve(client, req))
        self._under_way.add(work)
        work.add_done_callback(self._under_way.discard)
        await work

    async def _serve(self, client: SocketModeClient, req: SocketModeRequest) -> None:
        with self._traffic.payload():
            if await self._takes(req.payload):
                await client.send_socket_mode_response(SocketModeResponse(req.envelope_id))
            else:
                await super().handle(client, req)

    async def leave(self) -> None:
        self._is_leaving = True
        try:
            if self._under_way:
                await asyncio.wait(self._under_way, timeout=_ACK_S)
        finally:
            await self.client.close()  # type: ignore[no-untyped-call]


class SocketLink:
    """Open while entered. slack-sdk reconnects by itself, but has been seen to stop trying (bolt-python#1529)."""

    def __init__(
        self,
        app: AsyncApp,
        app_token: SecretStr,
        takes: Takes = nothing,
        traffic: Traffic | None = None,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        self._app = app
        self._takes = takes
        self._traffic = traffic or Traffic()
        self._app_token = app_token
        self._patience_s = patience_s
        self._handler: _Handler | None = None

    async def __aenter__(self) -> Self:
        """Connects.

        Raises:
            SlackError: Slack refuses the app-level token, or cannot be reached, there or at the socket's address.
        """
        # Asked for here, because the handler would try a wrong token again for ever without a word to the caller.
        url = await open_socket_url(self._app.client, self._app_token)
        self._handler = _Handler(self._app, self._app_token, self._takes, self._traffic)
        self._handler.client.wss_uri = url
        try:
            async with asyncio.timeout(self._patience_s):
                await self._handler.client.connect()  # type: ignore[no-untyped-call]
        except TimeoutError as exc:
            raise SlackError("Socket Mode: Slack gave an address, and no connection came about there") from exc
        finally:
            if not await self.is_connected():
                await self.__aexit__()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._handler is not None:
            await self._handler.leave()

    async def is_connected(self) -> bool:
        return self._handler is not None and await self._handler.client.is_connected()

    async def watch(self) -> None:
        """Returns never.

        Raises:
            SlackError: The connection is gone and does not come back; a new process may do better.
        """
        look_every_s = self._patience_s / _LOOKS
        looks = 0
        while looks < _LOOKS:
            await asyncio.sleep(look_every_s)
            looks = 0 if await self.is_connected() else looks + 1
        raise SlackError(f"the connection to Slack is gone and does not come back ({self._app.client.base_url})")
