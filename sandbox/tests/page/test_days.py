"""Day headings between messages, and relative dates."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

from playwright.async_api import expect

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


async def test_each_day_is_shown_once_above_its_messages_and_relative_dates_know_it(
    slack: Sandbox, open_tab
) -> None:
    yesterday = int(CLOCK.now()) - 24 * 3600
    block = {
        "type": "mrkdwn",
        "text": f"since <!date^{yesterday}^{{date_pretty}}|?>, <!date^{yesterday}^{{date}}|?>",
    }
    Person(slack.workspace, slack.workspace.bot.id).post(
        "help", "x", blocks=[{"type": "section", "text": block}]
    )
    tab = await open_tab.blank(slack.url)
    await tab.page.clock.set_fixed_time(datetime.fromtimestamp(CLOCK.now(), UTC))
    await open_tab.show(tab)
    main = tab.page.get_by_role("main")
    await expect(main.locator("li.day")).to_have_text(
        [re.compile(r"^\w+day, November \d+$"), "Yesterday", "Today"]
    )
    order = re.compile(r"November.*long ago.*Yesterday.*one.*two.*Today.*now", re.DOTALL)
    await expect(tab.page.get_by_role("list", name="Messages in help")).to_have_text(order)
    await expect(main).to_contain_text(re.compile(r"since yesterday, November \d+, 2023"))
    messages = main.locator("li.message")
    await messages.last.focus()
    for number in (3, 2, 1, 0):  # the arrow keys skip the lines of days
        await tab.page.keyboard.press("ArrowUp")
        await expect(messages.nth(number)).to_be_focused()
    await tab.page.context.close()  # its clock stands still
