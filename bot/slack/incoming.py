"""Incoming payloads: the Socket Mode connection, and a limit on the load.

Payloads in progress are counted: acknowledging them comes before settling cases, and too many are
refused. Slack waits 3 s for an acknowledgement, then tells the person that it failed. A case
accepted later than that would be scored although the person was told that it failed.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import islice
from typing import Self

import structlog
from pydantic import SecretStr
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.clock import accepted_within
from bot.errors import SlackError
from bot.slack.client import open_socket_url
from bot.slack.invocation import Raw, is_event

Door = Callable[[Raw], Awaitable[AsyncApp | None]]
"""Returns the Bolt app that serves a payload, or None if it is handled. Raises if Slack should send it again."""


MOST = 100
"""The most payloads in progress at once; any more would wait longer than 3 s for their acknowledgement."""
_FEW = 6


class Traffic:
    """The payloads in progress.

    If several have waited longer than `longest_wait_s`, no more are accepted. A person's request is
    accepted within `accept_within_s` or not at all; the rest of Slack's 3 s is for the
    acknowledgement. A job waits for payloads to be acknowledged first, at most `calm_within_s`.
    """

    longest_wait_s = 1.0
    accept_within_s = 2.5
    calm_within_s = 5.0

    def __init__(self, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._since: dict[
            object, float
        ] = {}  # when each unacknowledged payload arrived, oldest first
        self._calm = asyncio.Event()
        self._calm.set()

    @property
    def is_full(self) -> bool:
        """Whether one more would be acknowledged too late; a few slow ones do not count: they may
        wait for Slack.
        """
        now = self._clock()
        waits_since = next(islice(self._since.values(), _FEW, None), now)
        return len(self._since) >= self._most or now - waits_since > self.longest_wait_s

    @contextmanager
    def payload(self, body: Raw) -> Iterator[None]:
        """Counts a payload while the context is open.

        Events have no deadline, because Slack sends them again.
        """
        payload = object()
        self._since[payload] = self._clock()
        if len(self._since) > _FEW:
            self._calm.clear()
        try:
            with nullcontext() if is_event(body) else accepted_within(self.accept_within_s):
                yield
        finally:
            del self._since[payload]
            if len(self._since) <= _FEW:
                self._calm.set()

    async def calm(self) -> None:
        """Returns once few payloads wait to be acknowledged, or after `calm_within_s`: a job must
        not wait for ever.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(self.calm_within_s):
                await self._calm.wait()


_LOOKS = 8
# slack-sdk gives up a connection whose pings go unanswered after 20 s; together this makes a
# minute.
_PATIENCE_S = 40.0
# then Slack tells the person that it failed:
# https://docs.slack.dev/apis/events-api/using-socket-mode
_ACK_S = 3.0

logger = structlog.get_logger(__name__)


class SocketLink:
    """Connected while its context is open. slack-sdk reconnects by itself, but may stop trying
    (bolt-python#1529).

    It acknowledges what has arrived before it closes. Slack reports later payloads as failed, or
    sends them again.
    """

    def __init__(
        self,
        door: Door,
        client: AsyncWebClient,
        app_token: SecretStr,
        traffic: Traffic,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        logger = logging.getLogger("slack_sdk.socket_mode")
        self._socket = SocketModeClient(
            app_token.get_secret_value(), logger=logger, web_client=client
        )
        self._socket.socket_mode_request_listeners.append(self._handle)  # type: ignore[arg-type]
        self._door = door
        self._client = client
        self._app_token = app_token
        self._traffic = traffic
        self.patience_s = patience_s
        self._under_way: set[asyncio.Task[None]] = set()
        self._is_leaving = False

    async def __aenter__(self) -> Self:
        """Connects; raises SlackError if Slack refuses the app-level token or cannot be reached."""
        try:
            # The URL is requested here, because slack-sdk would retry a wrong token for ever
            # without raising.
            self._socket.wss_uri = await open_socket_url(self._client, self._app_token)
            async with asyncio.timeout(self.patience_s):
                await self._socket.connect()  # type: ignore[no-untyped-call]
        except TimeoutError as exc:
            raise SlackError(
                "Socket Mode: Slack returned an address, but a connection to it failed"
            ) from exc
        finally:
            if not await self.is_connected():
                await self.__aexit__()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._is_leaving = True
        try:
            if self._under_way:
                await asyncio.wait(self._under_way, timeout=_ACK_S)
        finally:
            await self._socket.close()  # type: ignore[no-untyped-call]

    async def _handle(self, client: SocketModeClient, req: SocketModeRequest) -> None:
        if self._is_leaving:
            return
        if self._traffic.is_full:
            # Not acknowledged and not accepted: Slack shows the person an error, and sends an event
            # again.
            logger.warning("payload_refused", reason="too many at once", most=MOST)
            return
        work = asyncio.ensure_future(self._serve(client, req))
        self._under_way.add(work)
        work.add_done_callback(self._under_way.discard)
        await work

    async def _serve(self, client: SocketModeClient, req: SocketModeRequest) -> None:
        with self._traffic.payload(req.payload):
            if app := await self._door(req.payload):
                await send_async_response(
                    client, req, await run_async_bolt_app(app, req), time.time()
                )
            else:
                await client.send_socket_mode_response(SocketModeResponse(req.envelope_id))

    async def is_connected(self) -> bool:
        return await self._socket.is_connected()

    async def watch(self) -> None:
        """Waits, and raises SlackError once the connection is lost for good: a new process may
        succeed.
        """
        look_every_s = self.patience_s / _LOOKS
        looks = 0
        while looks < _LOOKS:
            await asyncio.sleep(look_every_s)
            looks = 0 if await self.is_connected() else looks + 1
        raise SlackError(
            f"the connection to Slack is lost and cannot be restored ({self._client.base_url})"
        )
