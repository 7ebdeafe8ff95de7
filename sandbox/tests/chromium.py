"""Chromium, and tabs that may log no error: for the tests of any page."""

import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import (
    Browser,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    async_playwright,
    expect,
)

from pocket_slack import Sandbox

# An upper limit for busy machines; nothing waits longer than needed.
expect.set_options(timeout=15_000)

# The shell without windows comes first: its start and its tabs cost half of the CPU.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)

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
        # Containers often run as root, where Chromium's own sandbox does not work. It opens only
        # our own pages.
        started = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        await started.close()


@dataclass
class Tab:
    """A tab of the browser, and the errors in it."""

    page: Page
    url: str = ""
    """What all of its requests have to begin with."""
    trouble: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        def on_request(request: Request) -> None:
            if not request.url.startswith(self.url):
                self.trouble.append(f"a request to {request.url}")

        def on_console(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                self.trouble.append(f"{message.type} in the console: {message.text}")

        self.page.on("request", on_request)
        self.page.on("console", on_console)
        self.page.on("pageerror", lambda error: self.trouble.append(f"uncaught: {error}"))


class Tabs:
    """Opens tabs; no tab may log an error or make a request elsewhere.

    One test takes over the tabs of another, because a new one costs as much CPU as all that a test
    does in it. Nothing is left in them: each test's server has its own port, and pages keep their
    state in memory.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._idle: dict[bool, list[Tab]] = {False: [], True: []}
        self._open: list[tuple[bool, Tab]] = []

    async def __call__(self, slack: Sandbox, place: str = "", **how: Any) -> Tab:
        tab = await self.blank(slack.url, **how)
        await self.show(tab, place)
        return tab

    async def show(self, tab: Tab, place: str = "") -> None:
        await tab.page.goto(f"{tab.url}/#{place}")
        await tab.page.get_by_role("status").get_by_text("Connected").wait_for(state="attached")

    async def blank(
        self, url: str, width: int = 1400, scheme: Any = "light", is_touched: bool = False
    ) -> Tab:
        """A tab for pages whose addresses begin with `url`."""
        if self._idle[is_touched]:
            tab = self._idle[is_touched].pop()
        else:
            context = await self._browser.new_context(has_touch=is_touched, is_mobile=is_touched)
            tab = Tab(await context.new_page())
        await tab.page.set_viewport_size({"width": width, "height": 900})
        await tab.page.emulate_media(color_scheme=scheme)
        tab.url = url
        self._open.append((is_touched, tab))
        return tab

    async def release(self) -> list[str]:
        """Leaves all open tabs to the next test, unless a test has closed them; returns the errors
        in them.
        """
        trouble = [each for _, tab in self._open for each in tab.trouble]
        for is_touched, tab in self._open:
            if not tab.page.is_closed():
                await tab.page.goto("about:blank")
                tab.trouble.clear()
                self._idle[is_touched].append(tab)
        self._open.clear()
        return trouble


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def tabs(chromium: Browser) -> Tabs:
    return Tabs(chromium)


@fixture
async def open_tab(tabs: Tabs) -> AsyncIterator[Tabs]:
    yield tabs
    assert await tabs.release() == []


def text_box(where: Page | Locator, name: str) -> Locator:
    return where.get_by_role("textbox", name=name)


async def press(where: Page | Locator, name: str) -> None:
    await where.get_by_role("button", name=name).click()


async def choose(where: Page | Locator, name: str) -> None:
    """Chooses from the menu that is open."""
    await where.get_by_role("menuitem", name=name).click()
