"""Day headings between messages, and relative dates."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

from playwright.async_api import Page, expect

from pocket_slack import ManualClock, Person, Sandbox, Workspace
from pocket_slack.hindsight import Hindsight
from sandbox.tests.chromium import fixture
from sandbox.tests.conftest import MANIFEST

CLOCK = ManualClock()


@fixture
async def slack() -> AsyncIterator[Sandbox]:
    """A workspace with a channel that has messages of three days."""
    hindsight = Hindsight(CLOCK)
    workspace = Workspace(MANIFEST, clock=hindsight)
    workspace.add_channel("help", [workspace.add_user("ann", "Ann Lee"), workspace.bot])
    for days, text in ((9, "long ago"), (1, "one"), (1, "two"), (0, "now")):
        with hindsight.back(timedelta(days=days)):
            Person(workspace, "ann").post("help", text)
    async with Sandbox(workspace) as running:
        yield running


async def opened(open_tab, slack: Sandbox) -> Page:
    page: Page = (await open_tab(slack)).page
    await page.clock.set_fixed_time(datetime.fromtimestamp(CLOCK.now(), UTC))
    await page.reload()
    return page


async def test_each_day_is_shown_once_above_its_messages(slack: Sandbox, open_tab) -> None:
    page = await opened(open_tab, slack)
    days = page.get_by_role("main").locator("li.day")
    await expect(days).to_have_text([re.compile(r"^\w+day, November \d+$"), "Yesterday", "Today"])
    order = re.compile(r"November.*long ago.*Yesterday.*one.*two.*Today.*now", re.DOTALL)
    await expect(page.get_by_role("list", name="Messages in help")).to_have_text(order)


async def test_the_arrow_keys_skip_the_line_of_a_day(slack: Sandbox, open_tab) -> None:
    page = await opened(open_tab, slack)
    messages = page.get_by_role("main").locator("li.message")
    await messages.last.focus()
    await page.keyboard.press("ArrowUp")
    await expect(messages.nth(2)).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowUp")
    await expect(messages.first).to_be_focused()


async def test_a_pretty_date_says_yesterday(slack: Sandbox, open_tab) -> None:
    yesterday = int(CLOCK.now()) - 24 * 3600
    block = {"type": "mrkdwn", "text": f"since <!date^{yesterday}^{{date_pretty}}|?>, <!date^{yesterday}^{{date}}|?>"}
    Person(slack.workspace, slack.workspace.bot.id).post("help", "x", blocks=[{"type": "section", "text": block}])
    page = await opened(open_tab, slack)
    await expect(page.get_by_role("main")).to_contain_text(re.compile(r"since yesterday, November \d+, 2023"))
