"""The running pocket Slack: one process, one port, by default for this machine only."""

import asyncio
import errno
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from aiohttp import web

from pocket_slack.control import Control, errors_as_json
from pocket_slack.deliveries import Delivery
from pocket_slack.errors import SandboxError
from pocket_slack.faults import Fault
from pocket_slack.guard import guard
from pocket_slack.people import Person
from pocket_slack.request_url import RequestUrl
from pocket_slack.sockets import Sockets
from pocket_slack.static import static_routes
from pocket_slack.stream import Stream
from pocket_slack.web import Web
from pocket_slack.workspace import Workspace

T = TypeVar("T")

LAST_PORT = 65_535


class Sandbox:
    """A server for one workspace, and for those beside it that have the same app. Use it with
    `async with`.

    Args:
        workspace: The workspace to serve; the page and the control routes show only this one.
        port: 0 takes a free port.
        host: The address to listen on; by default for this machine only.
        request_url: Where the app gets its payloads over HTTP; without it, over Socket Mode.
    """

    def __init__(
        self,
        workspace: Workspace,
        port: int = 0,
        host: str = "127.0.0.1",
        request_url: str | None = None,
    ) -> None:
        self.workspace = workspace
        self.port = port
        self.sockets = Sockets(workspace)
        self._host = host
        self._request_url = request_url
        self._requests: RequestUrl | None = None
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """The address, such as `http://127.0.0.1:40123`."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.port}"

    @property
    def api_url(self) -> str:
        """The `base_url` for the Slack SDK."""
        return f"{self.url}/api/"

    @property
    def bot_token(self) -> str:
        """The token for the Web API."""
        return self.workspace.bot_token

    @property
    def app_token(self) -> str:
        """The token for Socket Mode."""
        return self.workspace.app_token

    def person(self, name: str) -> Person:
        """The person or bot to act as, by name or id."""
        return Person(self.workspace, name)

    @property
    def signing_secret(self) -> str:
        """The secret for requests over HTTP."""
        return self.workspace.app.signing_secret

    async def until(self, condition: Callable[[], T], timeout_s: float = 120.0) -> T:
        """The first true value of `condition`, which is checked now and after everything that
        happens.

        Raises:
            TimeoutError: The condition was not true in time; the message ends with what happened
                last.
        """
        return await self.workspace.journal.until(condition, timeout_s)

    async def connected(self, count: int = 1, timeout_s: float = 120.0) -> None:
        """Returns when the app has at least `count` open connections."""
        await self.until(lambda: len(self.sockets.open) >= count, timeout_s)

    async def settled(self, delivery: Delivery, timeout_s: float = 120.0) -> Delivery:
        """The delivery, once it is acknowledged or has failed."""
        await self.until(lambda: delivery.is_over, timeout_s)
        return delivery

    def fail(self, method: str, **fault: Any) -> None:
        """Makes the next call of a method fail; the arguments are those of `Fault`."""
        self.workspace.faults.add(method, Fault(**fault))

    async def start(self) -> None:
        """Starts to listen.

        Raises:
            SandboxError: The port is taken or does not exist, or the address is not this machine's.
        """
        if not 0 <= self.port <= LAST_PORT:
            raise SandboxError(
                f"there is no port {self.port}; give one up to {LAST_PORT}, or 0 for a free one"
            )
        app = web.Application(
            middlewares=[guard(self._host), errors_as_json], client_max_size=4 * 1024 * 1024
        )
        app.add_routes(
            [*Web(self.workspace).routes(), *Control(self.workspace, self.sockets).routes()]
        )
        app.add_routes([web.get("/link/", self.sockets.handle)])
        app.add_routes(
            [web.get("/sandbox/stream", Stream(self.workspace).handle), *static_routes()]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self.port)
        try:
            await site.start()
        except OSError as exc:
            await self._runner.cleanup()
            raise SandboxError(self._cannot_listen(exc)) from exc
        self.port = self._runner.addresses[0][1]
        for each in self.workspace.app.workspaces:
            each.grants.base_url = self.url
        if self._request_url:
            limits = self.workspace.meter.limits
            self._requests = RequestUrl(self.workspace, self._request_url, limits.answer_within_s)
            self.workspace.deliveries.connections.append(self._requests)
        self.workspace.deliveries.is_open = True

    async def stop(self) -> None:
        """Closes all connections and stops listening."""
        self.workspace.deliveries.close()
        await asyncio.gather(*(socket.close() for socket in list(self.sockets.open)))
        if self._requests:
            self.workspace.deliveries.connections.remove(self._requests)
            await self._requests.close()
        if self._runner:
            await self._runner.cleanup()

    def _cannot_listen(self, error: OSError) -> str:
        if error.errno == errno.EADDRINUSE:
            another = (
                f"give another port: --port {self.port + 1}, with make ARGS='--port "
                f"{self.port + 1}'"
            )
            return (
                f"port {self.port} is taken, perhaps by another pocket Slack; stop that one, "
                f"or {another}"
            )
        return f"cannot listen on {self._host}:{self.port}: {error.strerror or error}"

    async def __aenter__(self) -> "Sandbox":
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()
