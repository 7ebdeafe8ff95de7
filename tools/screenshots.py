"""Makes the README's pictures from the demo: `make screenshots`.

They show the real app in the pocket Slack, with its example verdicts and made-up weeks, so that every run gives the
same pictures. The workspace's clock starts at a fixed moment, and the weeks follow that clock.
"""

import asyncio
import logging
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from PIL import Image
from playwright.async_api import Locator, Page, async_playwright

from bot.app import make_services, running_bot
from bot.commands.demo_past import PAST_CHANNEL as CHANNEL
from bot.commands.demo_past import demo_workspace, write_past
from bot.feature import Services
from bot.features.digest.poster import draft, this_week
from bot.logs import configure_logs
from bot.settings import OFFLINE, load_settings
from bot.slack.client import web_client
from bot.slack.invocation import HomeVisit, Invocation
from bot.store.channels import ChannelSettings
from pocket_slack import Sandbox, SystemClock

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
LARGEST_BYTES = 200_000
MARGIN_PX = 24
WIDTH = 1240
STARTS_AT = 1_768_902_060.0
"""9:41 on a Tuesday in January 2026."""


class Morning(SystemClock):
    """The machine's clock, moved to a fixed start."""

    def __init__(self) -> None:
        self._ahead = STARTS_AT - super().now()

    def now(self) -> float:
        """Seconds since the epoch."""
        return super().now() + self._ahead


@dataclass(frozen=True)
class Demo:
    """The demo's workspace with the bot in it, and services that use the workspace's clock."""

    slack: Sandbox
    services: Services


async def main() -> None:
    """Writes all pictures."""
    configure_logs("console", logging.ERROR)
    FOLDER.mkdir(parents=True, exist_ok=True)
    async with open_demo() as demo, open_page(demo.slack) as page:
        await show_home(page, demo)
        await take(page, "home")
        await show_digest(page, demo)
        await take(page, "digest")
        await show_thread(page, "The VPN drops")
        await take(page, "thread")
        await take(page, "split", await show_thread(page, "May I pay for a team lunch"), margin_px=0)
        await page.get_by_role("link", name="Close the thread").click()
        await take(page, "modal", await show_modal(page))


@asynccontextmanager
async def open_demo() -> AsyncIterator[Demo]:
    """The demo, ready."""
    clock = Morning()
    workspace = demo_workspace(clock)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite+aiosqlite:///{folder}/log.db"
        await write_past(url, workspace)
        async with Sandbox(workspace) as slack:
            settings = load_settings(
                env_file=None,
                slack_bot_token=slack.bot_token,
                slack_app_token=slack.app_token,
                slack_api_url=slack.api_url,
                database_url=url,
                judge_model=OFFLINE,
            )
            async with (
                running_bot(settings, grace_s=0) as bot,
                web_client(settings.slack_bot_token, settings.slack_api_url) as client,
            ):

                def now() -> datetime:
                    return datetime.fromtimestamp(clock.now(), UTC)

                services = make_services(settings, bot.store, client, bot.services.identity, clock=now)
                yield Demo(slack, services)


@asynccontextmanager
async def open_page(slack: Sandbox) -> AsyncIterator[Page]:
    """The page in the system's Chromium, at twice the resolution."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        sys.exit("screenshots: no Chromium found; `make screenshots` installs it, or install it and put it on the PATH")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = await browser.new_page(
            viewport={"width": WIDTH, "height": 640},
            device_scale_factor=2,
            color_scheme="light",
            locale="en-US",
            timezone_id="UTC",
        )
        await page.clock.set_fixed_time(datetime.fromtimestamp(STARTS_AT, UTC))
        await page.goto(slack.url)
        yield page
        await browser.close()


async def show_thread(page: Page, question: str) -> Locator:
    """Opens a thread of help-desk that contains an example verdict; returns the verdict's message."""
    await page.set_viewport_size({"width": WIDTH, "height": 860})
    await page.get_by_role("link", name="help-desk").click()
    await page.get_by_role("listitem", name=question).get_by_role("button", name="2 replies").click()
    thread = page.get_by_role("complementary", name="Thread")
    await thread.get_by_text(question).first.wait_for()
    verdict = thread.get_by_role("listitem", name="Slack Judge")
    await verdict.get_by_text("Example: written by hand").wait_for()
    await page.mouse.move(0, 0)
    await page.get_by_role("textbox", name="Message to help-desk").focus()
    return verdict


async def show_modal(page: Page) -> Locator:
    """Opens the modal of `/judge` and types into it; returns the modal."""
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


async def show_digest(page: Page, demo: Demo) -> None:
    """Posts the digest of the week so far in the channel of the made-up weeks."""
    services = demo.services
    settings = ChannelSettings(services.identity.team_id, demo.slack.workspace.channel(CHANNEL).id)
    post, _ = await draft(services, settings, this_week(services, settings))
    await page.set_viewport_size({"width": WIDTH, "height": 1400})
    await page.get_by_role("link", name=CHANNEL).click()
    await services.client.chat_postMessage(channel=settings.channel_id, text=post.text, blocks=post.blocks)
    await page.get_by_role("table", name="By assistant").wait_for()


async def show_home(page: Page, demo: Demo) -> None:
    """Opens the Home tab, with the weeks of the workspace's clock."""
    ann = demo.slack.person("ann")
    await page.get_by_role("link", name="Slack Judge").click()
    await page.get_by_role("heading", name="Your cases").wait_for()
    visit = HomeVisit(
        Invocation(demo.services.identity.team_id, ann.im, ann.id, "ann", "", None, is_foreign=False), ann.im
    )
    await demo.services.show_home(visit)
    await page.get_by_text("Score 1 of 5").first.wait_for()


async def take(page: Page, name: str, around: Locator | None = None, margin_px: int = MARGIN_PX) -> None:
    """Writes one picture: of the page, or of a part of it with some margin."""
    path = FOLDER / f"{name}.png"
    box = await around.bounding_box() if around else None
    clip = box and {
        "x": box["x"] - margin_px,
        "y": box["y"] - margin_px,
        "width": box["width"] + 2 * margin_px,
        "height": box["height"] + 2 * margin_px,
    }
    await page.screenshot(path=path, clip=clip or None, animations="disabled", caret="hide")
    with Image.open(path) as picture:
        # 256 colours are enough for the page, and the file is a third of the size.
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.relative_to(FOLDER.parent.parent)}  {size // 1000} kB")
    if size > LARGEST_BYTES:
        sys.exit(f"screenshots: {path.name} is larger than {LARGEST_BYTES // 1000} kB; show less, or at a lower scale")


if __name__ == "__main__":
    asyncio.run(main())
