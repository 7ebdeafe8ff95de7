"""Makes the README's pictures from the demo: `make screenshots`.

They show the real app in the pocket Slack, with its example verdicts and made-up weeks, so that
every run gives the same pictures. The workspace's clock starts at a fixed moment, and the weeks
follow that clock.
"""

import asyncio
import logging
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from pathlib import Path

from PIL import Image
from playwright.async_api import Locator, Page, async_playwright

from bot.app import make_services, running_bot
from bot.commands.demo_past import PAST_CHANNEL, demo_workspace, write_past
from bot.features.digest.poster import draft, this_week
from bot.features.watch.standings import StandingLooks
from bot.logs import configure_logs
from bot.services import Services
from bot.settings import OFFLINE, load_settings
from bot.slack.client import web_client
from bot.store.channels import ChannelSettings
from pocket_slack import Sandbox, SystemClock

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
LARGEST_BYTES = 200_000
WIDTH = 1240
DIGEST_PX = 576
"""The digest down to its causes."""
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
    """Writes all pictures, each for light and dark pages."""
    configure_logs("console", logging.ERROR)
    FOLDER.mkdir(parents=True, exist_ok=True)
    async with open_demo() as demo, open_page(demo.slack) as page:
        await take("verdict", await show_thread(page, "The invoice export fails"))
        await StandingLooks(demo.services).look()
        await take("alert", await show_post(page, "Scores of drafter are lower"))
        await post_digest(demo)
        digest = await show_post(page, "Why replies scored low")
        await take("digest", digest, most_px=DIGEST_PX)
        await digest.get_by_role("button", name="See all").click()
        await page.set_viewport_size({"width": WIDTH, "height": 600})
        await take("causes", page.get_by_role("dialog"))


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
                text_days=3650,  # by the clock of this machine, the made-up weeks are long ago
            )
            async with (
                running_bot(settings, grace_s=0) as bot,
                web_client(settings.slack_bot_token, settings.slack_api_url) as client,
            ):

                def now() -> datetime:
                    return datetime.fromtimestamp(clock.now(), UTC)

                services = make_services(
                    settings, bot.services.store, client, bot.services.identity, clock=now
                )
                yield Demo(slack, services)


@asynccontextmanager
async def open_page(slack: Sandbox) -> AsyncIterator[Page]:
    """The page in the system's Chromium, at twice the resolution."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        sys.exit(
            "screenshots: no Chromium found; `make screenshots` installs it, or install it "
            "and put it on the PATH"
        )
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = await browser.new_page(
            viewport={"width": WIDTH, "height": 640},
            device_scale_factor=2,
            locale="en-US",
            timezone_id="UTC",
        )
        await page.clock.set_fixed_time(datetime.fromtimestamp(STARTS_AT, UTC))
        await page.goto(slack.url)
        yield page
        await browser.close()


async def show_thread(page: Page, question: str) -> Locator:
    """Opens a thread of help-desk that contains an example verdict; returns the thread."""
    await page.set_viewport_size({"width": WIDTH, "height": 665})
    await page.get_by_role("link", name=re.compile("^help-desk")).click()
    await (
        page.get_by_role("listitem", name=question).get_by_role("button", name="2 replies").click()
    )
    thread = page.get_by_role("complementary", name="Thread")
    await thread.get_by_text("Example: written by hand").wait_for()
    await page.mouse.move(0, 0)
    await page.get_by_role("textbox", name="Message to help-desk").focus()
    return thread


async def show_post(page: Page, words: str) -> Locator:
    """Shows a post of the app in the channel of the made-up weeks; returns it."""
    await page.set_viewport_size({"width": WIDTH - 400, "height": 1500})
    await page.get_by_role("link", name=re.compile(f"^{PAST_CHANNEL}")).click()
    post = (
        page.get_by_role("main").get_by_role("listitem", name="Slack Judge").filter(has_text=words)
    )
    await post.wait_for()
    await page.mouse.move(0, 0)
    return post


async def post_digest(demo: Demo) -> None:
    """Posts the digest of the last week in the channel of the made-up weeks."""
    services = demo.services
    settings = ChannelSettings(
        services.identity.team_id, demo.slack.workspace.channel(PAST_CHANNEL).id
    )
    post, _ = await draft(services, settings, this_week(services, settings).before())
    await services.client.chat_postMessage(
        channel=settings.channel_id, text=post.text, blocks=post.blocks
    )


async def take(name: str, shown: Locator, most_px: float = inf) -> None:
    """Writes a picture of a part of the page, or of its top, once for light pages and once for dark
    ones.
    """
    for scheme in ("light", "dark"):
        await shown.page.emulate_media(color_scheme=scheme)
        path = FOLDER / f"{name}-{scheme}.png"
        box = await shown.bounding_box()
        if box is None:
            sys.exit(f"screenshots: {name} is not to be seen")
        await shown.page.screenshot(
            path=path,
            clip={
                "x": box["x"],
                "y": box["y"],
                "width": box["width"],
                "height": min(box["height"], most_px),
            },
            animations="disabled",
            caret="hide",
        )
        with Image.open(path) as picture:
            # 256 colours are enough for the page, and the file is a third of the size.
            picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
        size = path.stat().st_size
        print(f"{path.relative_to(FOLDER.parent.parent)}  {size // 1000} kB")
        if size > LARGEST_BYTES:
            sys.exit(
                f"screenshots: {path.name} is larger than {LARGEST_BYTES // 1000} kB; show "
                "less of the page"
            )


if __name__ == "__main__":
    asyncio.run(main())
