"""Chromium, and tabs that may log no error: for the tests of any page."""

import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, ConsoleMessage, Page, Request, async_playwright, expect

from pocket_slack import Sandbox

# An upper limit for busy machines; nothing waits longer than needed.
expect.set_options(timeout=15_000)

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

fixture = pytest_asyncio.fixture(loop_scope="session")
"""Marks a fixture that is made for each test, in the event loop that drives Chromium."""


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    for item in items:
        if "chromium" in item.fixturenames:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium; `make test-browser` installs it")
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
