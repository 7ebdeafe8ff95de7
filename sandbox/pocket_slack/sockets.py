"""Socket Mode over aiohttp's WebSockets.

Source: https://docs.slack.dev/apis/events-api/using-socket-mode
"""

import asyncio
import json

from aiohttp import WSMsgType, web

from pocket_slack.model import Json
from pocket_slack.workspace import Workspace

LIVES_S = 18_060
"""About five hours, as Slack's `hello` says."""

MOST_CONNECTIONS = 10
"""https://docs.slack.dev/apis/events-api/using-socket-mode#using-multiple-connections"""

GOODBYES = ("warning", "refresh_requested", "link_disabled")
"""Slack's reasons for asking an app to reconnect: https://docs.slack.dev/apis/events-api/using-socket-mode#disconnect"""


class Socket:
    """One open connection.

    A silent one is a zombie: it stays open, but ignores the app and sends nothing.
    """

    def __init__(self, id_: str, ws: web.WebSocketResponse) -> None:
        self.id = id_
        self.is_silent = False
        self._ws = ws
        self._outgoing: asyncio.Queue[Json] = asyncio.Queue()

    def send(self, message: Json) -> None:
        """Queues a message."""
        self._outgoing.put_nowait(message)

    async def write(self) -> None:
        """Sends queued messages until cancelled."""
        while True:
            message = await self._outgoing.get()
            if not self.is_silent and not self._ws.closed:
                await self._ws.send_str(json.dumps(message))

    async def read(self, workspace: Workspace) -> None:
        """Reads acks until the app or the sandbox closes the connection."""
        # Pings are answered here and not by aiohttp, so that a zombie does not answer them.
        async for message in self._ws:
            if self.is_silent:
                continue
            if message.type is WSMsgType.PING:
                await self._ws.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                _take(workspace, message.data)

    async def close(self) -> None:
        """Closes the connection from Slack's side."""
        await self._ws.close()


class Sockets:
    """All open connections of the app."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.open: list[Socket] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serves one connection until it is closed."""
        if not self._workspace.grants.use_ticket(request.query.get("ticket", "")):
            return web.Response(status=403, text="the ticket is unknown or used")
        response = web.WebSocketResponse(autoping=False)
        await response.prepare(request)
        if len(self.open) >= MOST_CONNECTIONS:
            await response.send_json(_goodbye("too_many_websockets"))
            await response.close()
            return response
        socket = Socket(self._workspace.ids.new("s"), response)
        self._enter(socket)
        writer = asyncio.create_task(socket.write())
        try:
            await socket.read(self._workspace)
        finally:
            self._leave(socket)
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
        return response

    def say_goodbye(self, reason: str = "refresh_requested") -> None:
        """Asks the app to reconnect, as Slack does now and then.

        `reason` is one of `GOODBYES`.
        """
        for socket in self.open:
            socket.send(_goodbye(reason))

    def silence(self) -> None:
        """Turns the open connections into zombies."""
        for socket in self.open:
            socket.is_silent = True
        self._workspace.journal.record("fault", sockets="silenced")

    async def drop(self) -> None:
        """Closes the open connections without announcing it."""
        self._workspace.journal.record("fault", sockets="dropped")
        for socket in list(self.open):
            await socket.close()

    def _enter(self, socket: Socket) -> None:
        self.open.append(socket)
        self._workspace.deliveries.connections.append(socket)
        socket.send(
            {
                "type": "hello",
                "num_connections": len(self.open),
                "debug_info": {
                    "host": "applink-sandbox",
                    "build_number": 1,
                    "approximate_connection_time": LIVES_S,
                },
                "connection_info": {"app_id": self._workspace.app_id},
            }
        )
        self._workspace.journal.record("connection", connection=socket.id, open=len(self.open))

    def _leave(self, socket: Socket) -> None:
        self.open.remove(socket)
        self._workspace.deliveries.connections.remove(socket)
        self._workspace.journal.record(
            "connection", connection=socket.id, open=len(self.open), closed=True
        )


def _goodbye(reason: str) -> Json:
    return {"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-sandbox"}}


def _take(workspace: Workspace, text: str) -> None:
    try:
        message = json.loads(text)
        envelope_id = message["envelope_id"]
        payload = message.get("payload")
    except (ValueError, KeyError, TypeError, AttributeError):
        workspace.journal.record("ack", ignored="not an ack", text=text[:200])
        return
    workspace.deliveries.ack(envelope_id, payload)
