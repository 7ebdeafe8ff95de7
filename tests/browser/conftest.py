"""The page in the system's Chromium, with a small Bolt app behind it."""

import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, ConsoleMessage, Page, Request, async_playwright, expect
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from pocket_slack import Sandbox, Workspace
from tests.patience import UNHURRIED

# An upper limit for busy machines; nothing waits longer than needed.
expect.set_options(timeout=15_000)

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

MANIFEST: dict[str, Any] = {
    "display_information": {"name": "Echo"},
    "features": {
        "bot_user": {"display_name": "echo"},
        "app_home": {"home_tab_enabled": True},
        "slash_commands": [{"command": "/echo", "description": "Says it again", "usage_hint": "[text]"}],
        "shortcuts": [
            {"callback_id": "echo_this", "type": "message", "name": "Echo this", "description": "Again"},
            {"callback_id": "echo_any", "type": "global", "name": "Echo", "description": "Asks what to say"},
        ],
    },
    "oauth_config": {"scopes": {"bot": ["channels:history", "chat:write", "commands", "users:read"]}},
    "settings": {"event_subscriptions": {"bot_events": ["app_home_opened"]}},
}


fixture = pytest_asyncio.fixture(loop_scope="session")
"""Marks a fixture that is made for each test, in the event loop that drives Chromium."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason="no Chromium; `make test-browser` installs it"))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        # Containers often run as root, where Chromium's own sandbox does not work. It opens only our own pages.
        started = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        await started.close()


@fixture
async def browser(chromium: Browser) -> AsyncIterator[Browser]:
    """The Chromium that all tests share; after each test its contexts are closed."""
    yield chromium
    for context in chromium.contexts:
        await context.close()


@dataclass
class Tab:
    """A tab of the browser, and the errors in it."""

    page: Page
    trouble: list[str] = field(default_factory=list)

    def watch(self, url: str) -> None:
        def on_request(request: Request) -> None:
            if not request.url.startswith(url):
                self.trouble.append(f"a request to {request.url}")

        def on_console(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                self.trouble.append(f"{message.type} in the console: {message.text}")

        self.page.on("request", on_request)
        self.page.on("console", on_console)
        self.page.on("pageerror", lambda error: self.trouble.append(f"uncaught: {error}"))


class Tabs:
    """Opens tabs, each with its own profile; no tab may log an error or make a request elsewhere."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self.open: list[Tab] = []

    async def __call__(
        self, slack: Sandbox, place: str = "", width: int = 1400, scheme: Any = "light", is_touched: bool = False
    ) -> Tab:
        context = await self._browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, has_touch=is_touched, is_mobile=is_touched
        )
        tab = Tab(await context.new_page())
        tab.watch(slack.url)
        self.open.append(tab)
        await tab.page.goto(f"{slack.url}/#{place}")
        await tab.page.get_by_role("status").get_by_text("Connected").wait_for(state="attached")
        return tab


@fixture
async def open_tab(browser: Browser) -> AsyncIterator[Tabs]:
    tabs = Tabs(browser)
    yield tabs
    assert [trouble for tab in tabs.open for trouble in tab.trouble] == []


def small_workspace() -> Workspace:
    workspace = Workspace(MANIFEST, limits=UNHURRIED)
    ann, ben = workspace.add_user("ann", "Ann Lee"), workspace.add_user("ben", "Ben Roy")
    helper = workspace.add_bot("helper")
    workspace.add_channel("help", [ann, ben, helper, workspace.bot])
    workspace.add_channel("secret", [ann], is_private=True)
    return workspace


@fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with Sandbox(small_workspace()) as running:
        yield running


@pytest.fixture
def client(slack: Sandbox) -> AsyncWebClient:
    return AsyncWebClient(token=slack.bot_token, base_url=slack.api_url)


@fixture
async def app(slack: Sandbox, client: AsyncWebClient) -> AsyncIterator[AsyncApp]:
    """A Bolt app, connected; tests add its listeners."""
    bolt = AsyncApp(client=client)
    handler = AsyncSocketModeHandler(bolt, slack.app_token)
    await handler.connect_async()
    await slack.connected()
    yield bolt
    await handler.close_async()
