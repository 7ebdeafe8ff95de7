"""A workspace of three people and a bot, and a real Bolt app beside it."""

import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.listener.async_listener import AsyncCustomListener
from slack_sdk.web.async_client import AsyncWebClient

from pocket_slack import Limits, ManualClock, Person, Sandbox, SlackError, Workspace, methods

SCOPES = """
app_mentions:read bookmarks:read bookmarks:write channels:history channels:join channels:manage channels:read
chat:write commands emoji:read files:read files:write groups:history groups:read groups:write im:history im:read
im:write links:read links:write mpim:read mpim:write pins:read pins:write reactions:read reactions:write
team:read usergroups:read users.profile:read users:read users:read.email
"""
MANIFEST: dict[str, Any] = {
    "display_information": {"name": "Echo"},
    "features": {
        "bot_user": {"display_name": "echo"},
        "app_home": {"home_tab_enabled": True},
        "slash_commands": [
            {"command": "/echo", "description": "Says it again", "usage_hint": "[text]"}
        ],
        "shortcuts": [
            {
                "callback_id": "echo_this",
                "type": "message",
                "name": "Echo this",
                "description": "Says it again",
            },
            {
                "callback_id": "echo_any",
                "type": "global",
                "name": "Echo",
                "description": "Asks what to say",
            },
        ],
    },
    "oauth_config": {"scopes": {"bot": SCOPES.split()}},
    "settings": {
        "event_subscriptions": {
            "bot_events": ["app_home_opened", "member_joined_channel", "message.channels"]
        }
    },
}

ONLY_A_HANG_S = 120.0
"""How long a test waits for something that normally comes at once, even on a busy machine."""
UNHURRIED = replace(Limits.off(), answer_within_s=ONLY_A_HANG_S)


def pytest_configure() -> None:
    # Bolt drops an answer that takes the app more than 3 s.
    AsyncCustomListener.ack_timeout = property(lambda _: ONLY_A_HANG_S, lambda *_: None)  # type: ignore[assignment]
    # A shell's background process ignores SIGINT, and the processes that it starts would ignore it,
    # too.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def populated(workspace: Workspace) -> Workspace:
    ann, ben, cat = (workspace.add_user(name) for name in ("ann", "ben", "cat"))
    helper = workspace.add_bot("helper")
    workspace.add_channel("help", [ann, ben, helper, workspace.bot])
    workspace.add_channel("random", [ann, ben])
    workspace.add_channel("secret", [ann, cat], is_private=True)
    return workspace


@pytest.fixture
def workspace(clock: ManualClock) -> Workspace:
    """A workspace for tests without a server; the tests move its clock."""
    return populated(Workspace(MANIFEST, clock=clock, limits=Limits.off()))


@pytest.fixture
def ann(workspace: Workspace) -> Person:
    return Person(workspace, "ann")


@pytest.fixture
def ben(workspace: Workspace) -> Person:
    return Person(workspace, "ben")


@pytest.fixture
def cat(workspace: Workspace) -> Person:
    return Person(workspace, "cat")


@pytest.fixture
def helper(workspace: Workspace) -> Person:
    return Person(workspace, "helper")


@pytest.fixture
def help_id(workspace: Workspace) -> str:
    """The id of the channel help."""
    return workspace.channel("help").id


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    """A server in real time, without rate limits."""
    async with Sandbox(populated(Workspace(MANIFEST, limits=UNHURRIED))) as running:
        yield running


@pytest.fixture
def client(slack: Sandbox) -> AsyncWebClient:
    return AsyncWebClient(token=slack.bot_token, base_url=slack.api_url)


@asynccontextmanager
async def connected_app(slack: Sandbox) -> AsyncIterator[AsyncApp]:
    """A Bolt app, connected; listeners may be added to it at any time."""
    bolt = AsyncApp(client=AsyncWebClient(token=slack.bot_token, base_url=slack.api_url))
    handler = AsyncSocketModeHandler(bolt, slack.app_token)
    await handler.connect_async()
    await slack.connected()
    yield bolt
    await handler.close_async()


@pytest.fixture
async def app(slack: Sandbox) -> AsyncIterator[AsyncApp]:
    async with connected_app(slack) as bolt:
        yield bolt


Call = Callable[..., dict[str, Any]]


@pytest.fixture
def call(workspace: Workspace) -> Call:
    """Calls a Web API method with the bot's token, without HTTP."""
    return lambda name, /, **args: methods.call(workspace, name, workspace.bot_token, args)


@pytest.fixture
def refused(call: Call) -> Callable[..., SlackError]:
    """Calls a method that must answer `ok: false`, and returns the error."""

    def refused_call(name: str, /, **args: Any) -> SlackError:
        with pytest.raises(SlackError) as caught:
            call(name, **args)
        return caught.value

    return refused_call


class Wire:
    """An app's end of a connection, which keeps what it receives."""

    def __init__(self, id_: str) -> None:
        self.id = id_
        self.sent: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)


def heard(wire: Wire) -> list[dict[str, Any]]:
    return [envelope["payload"]["event"] for envelope in wire.sent]


@pytest.fixture
def wire(workspace: Workspace) -> Wire:
    """The app, connected without a socket."""
    connection = Wire("wire")
    workspace.deliveries.connections.append(connection)
    workspace.deliveries.is_open = True
    return connection
