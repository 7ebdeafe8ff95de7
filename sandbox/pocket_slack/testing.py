"""A pytest fixture: a running pocket Slack, for tests with and without asyncio.

In `conftest.py`, `pytest_plugins = ["pocket_slack.testing"]` and a fixture `slack_workspace`, which
is a `Workspace`. The README has a test with it. In an `async def`, what waits is awaited: `await
slack.settled(...)`.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from typing import Any

import pytest

from pocket_slack.people import Person
from pocket_slack.server import Sandbox
from pocket_slack.sockets import Sockets
from pocket_slack.workspace import Workspace


class Slack:
    """A `Sandbox` in a thread of its own, or a part of one: attributes are read and methods run in
    that thread only.
    """

    def __init__(
        self, what: Any, loop: asyncio.AbstractEventLoop, closing: list[Callable[[], Any]]
    ) -> None:
        self._what = what
        self._loop = loop
        self._closing = closing

    def __getattr__(self, name: str) -> Any:
        value = self.run(getattr, self._what, name)
        return partial(self.run, value) if callable(value) else value

    def run(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What a function returns there, such as `ManualClock.advance`; a coroutine's result is
        awaited in a loop.
        """
        here = asyncio._get_running_loop()
        if here is self._loop:
            return function(*args, **kwargs)
        future = asyncio.run_coroutine_threadsafe(_called(function, *args, **kwargs), self._loop)
        if iscoroutinefunction(function) and here:
            return asyncio.wrap_future(future)
        value = future.result()
        return (
            Slack(value, self._loop, self._closing)
            if isinstance(value, Person | Sockets | Workspace)
            else value
        )

    def connect(self, app: Any) -> None:
        """Connects a Bolt app until the end of the test.

        The listeners of an `AsyncApp` run in the sandbox's thread.
        """
        from slack_bolt import App
        from slack_bolt.adapter.socket_mode import SocketModeHandler
        from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler

        async def connected(handler: Any = None) -> None:
            if not isinstance(app, App):
                handler = AsyncSocketModeHandler(app, self._what.app_token)
                self._closing.append(partial(self.run, handler.close_async))
                await handler.connect_async()
            await self._what.connected()

        if isinstance(app, App):
            self._closing.append((handler := SocketModeHandler(app, self.app_token)).close)
            handler.connect()  # type: ignore[no-untyped-call]
        asyncio.run_coroutine_threadsafe(connected(), self._loop).result()


async def _called(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    result = function(*args, **kwargs)
    return await result if isawaitable(result) else result


@pytest.fixture
def slack(slack_workspace: Workspace) -> Iterator[Slack]:
    """A running pocket Slack with the workspace of the fixture `slack_workspace`."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    running = Slack(Sandbox(slack_workspace), loop, [])
    running.start()
    yield running
    for close in (running.stop, *running._closing)[::-1]:
        close()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
