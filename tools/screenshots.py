"""Makes the README's pictures from the demo: `make screenshots`.

They come from the real app in the pocket Slack, on the offline rater, so that anybody gets the same ones. The clock of
the workspace starts at a fixed moment.
"""

import asyncio
import logging
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from PIL import Image
from playwright.async_api import Locator, Page, async_playwright

from bot.app import running_bot
from bot.logs import configure_logs
from bot.manifest import load_manifest
from bot.settings import OFFLINE, load_settings
from sandbox import Sandbox, SystemClock
from sandbox.workspace_file import open_workspace

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
LARGEST_BYTES = 200_000
MARGIN_PX = 24
STARTS_AT = 1_768_902_060.0
"""9:41 on a Tuesday in January 2026."""


class Morning(SystemClock):
    """The machine's clock, moved to a fixed start."""

    def __init__(self) -> None:
        self._ahead = STARTS_AT - super().now()

    def now(self) -> float:
        """Seconds since the epoch."""
        return super().now() + self._ahead


async def main() -> None:
    """Writes all pictures."""
    configure_logs("console", logging.ERROR)
    FOLDER.mkdir(parents=True, exist_ok=True)
    async with demo() as slack, open_page(slack) as page:
        await show_thread(page)
        await take(page, "thread")
        await page.get_by_role("link", name="Close the thread").click()
        await take(page, "modal", await show_modal(page))


@asynccontextmanager
async def demo() -> AsyncIterator[Sandbox]:
    """The demo's workspace with the bot in it."""
    workspace = open_workspace(load_manifest(), clock=Morning())
    with tempfile.TemporaryDirectory() as folder:
        async with Sandbox(workspace) as slack:
            settings = load_settings(
                env_file=None,
                slack_bot_token=slack.bot_token,
                slack_app_token=slack.app_token,
                slack_api_url=slack.api_url,
                database_url=f"sqlite+aiosqlite:///{folder}/log.db",
                judge_model=OFFLINE,
            )
            async with running_bot(settings, grace_s=0):
                yield slack


@asynccontextmanager
async def open_page(slack: Sandbox) -> AsyncIterator[Page]:
    """The page in the system's Chromium, at twice the resolution."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        sys.exit("screenshots: no Chromium found; `make screenshots` installs it, or install it and put it on the PATH")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = await browser.new_page(
            viewport={"width": 1240, "height": 860},
            device_scale_factor=2,
            color_scheme="light",
            locale="en-US",
            timezone_id="UTC",
        )
        await page.goto(slack.url)
        yield page
        await browser.close()


async def show_thread(page: Page) -> None:
    """Scores the first answer, and waits for the verdict."""
    await page.get_by_role("button", name="1 reply").first.click()
    thread = page.get_by_role("complementary", name="Thread")
    answer = thread.get_by_role("listitem", name="helper")
    await answer.hover()
    await answer.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Score this reply").click()
    await thread.get_by_text("Score 4 of 5").wait_for()
    await page.mouse.move(0, 0)
    await page.get_by_role("textbox", name="Message to help-desk").focus()


async def show_modal(page: Page) -> Locator:
    """Opens the window of `/judge` and types into it."""
    box = page.get_by_role("textbox", name="Message to help-desk")
    await box.fill("/judge")
    await box.press("Enter")
    modal = page.get_by_role("dialog")
    await modal.get_by_label("Question").fill("Does the free plan include single sign-on?")
    await modal.get_by_label("Response").fill(
        "No. Single sign-on comes with the Business plan; the free plan has passwords only."
    )
    await modal.get_by_label("Question").focus()
    return modal


async def take(page: Page, name: str, around: Locator | None = None) -> None:
    """Writes one picture: of the page, or of a part of it with some margin."""
    path = FOLDER / f"{name}.png"
    box = await around.bounding_box() if around else None
    clip = box and {
        "x": box["x"] - MARGIN_PX,
        "y": box["y"] - MARGIN_PX,
        "width": box["width"] + 2 * MARGIN_PX,
        "height": box["height"] + 2 * MARGIN_PX,
    }
    await page.screenshot(path=path, clip=clip or None, animations="disabled", caret="hide")
    with Image.open(path) as picture:
        # A page of few colours needs no more than 256; the file is a third of what it was.
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.relative_to(FOLDER.parent.parent)}  {size // 1000} kB")
    if size > LARGEST_BYTES:
        sys.exit(f"screenshots: {path.name} is larger than {LARGEST_BYTES // 1000} kB; show less, or at a lower scale")


if __name__ == "__main__":
    asyncio.run(main())
