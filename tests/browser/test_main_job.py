"""The product's main job, with the real bot behind the page."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

from playwright.async_api import Locator, Page, expect

from bot.app import running_bot
from bot.commands.demo_past import PAST_CHANNEL as CHANNEL
from bot.commands.demo_past import demo_workspace, write_past
from bot.settings import OFFLINE, load_settings
from pocket_slack import Sandbox
from sandbox.tests.chromium import choose, fixture, press, text_box


@fixture
async def bot(tmp_path: Path) -> AsyncIterator[Sandbox]:
    """The demo's workspace with its past, and the bot with the offline rater."""
    workspace = demo_workspace()
    database_url = f"sqlite+aiosqlite:///{tmp_path}/log.db"
    await write_past(database_url, workspace)
    async with Sandbox(workspace) as slack:
        settings = load_settings(
            env_file=None,
            slack_bot_token=slack.bot_token,
            slack_app_token=slack.app_token,
            slack_api_url=slack.api_url,
            database_url=database_url,
            judge_model=OFFLINE,
        )
        async with running_bot(settings, grace_s=0):
            await slack.connected()
            yield slack


async def score_from_menu(answer: Locator, page: Page) -> None:
    await answer.hover()
    await press(answer, "More actions")
    await choose(page, "Score this reply")


async def test_each_first_step_shows_what_it_promises_and_is_ticked(bot: Sandbox, open_tab) -> None:
    page = (await open_tab(bot)).page
    done = 0
    steps = page.get_by_role("region", name="First steps")

    async def ticked() -> None:
        nonlocal done
        done += 1
        await expect(steps).to_contain_text(f"{done} of 6")

    vpn = page.get_by_role("listitem", name="The VPN drops")
    await press(vpn, "2 replies")
    thread = page.get_by_role("complementary", name="Thread")
    await press(thread, "Details")
    await ticked()
    await page.get_by_role("dialog").get_by_role("button", name="Close").last.click()
    await press(thread, "I would give the same score")
    await ticked()
    thanks = thread.get_by_role("listitem", name="Only visible to you")
    await expect(thanks).to_contain_text("You agree")
    for_you = vpn.get_by_role("button", name=re.compile("replies, 1 only for you"))
    await expect(for_you).to_be_visible()
    # A reply in several messages is scored as a whole from the menu of one of them.
    question = page.get_by_role("listitem", name="I committed to main by mistake")
    await press(question, "3 replies")
    await score_from_menu(thread.get_by_role("listitem", name="helper").nth(1), page)
    verdict = thread.get_by_role("listitem", name="Slack Judge")
    await expect(verdict).to_contain_text("of 5")
    await expect(verdict).to_contain_text("3 messages")
    await expect(question.get_by_role("button", name="4 replies")).to_be_visible()
    await ticked()
    await thread.get_by_role("textbox").fill("And after a push?")
    await thread.get_by_role("textbox").press("Enter")
    await ticked()
    await steps.get_by_role("link", name=f"#{CHANNEL}").click()
    box = text_box(page, f"Message to {CHANNEL}")
    await box.fill("/judge stats @drafter")
    await box.press("Enter")
    await ticked()
    stats = page.get_by_role("listitem", name="Only visible to you")
    await expect(stats).to_contain_text("made up for the demo")
    await page.get_by_role("link", name=re.compile("Score [01] of 5")).first.click()
    await score_from_menu(thread.get_by_role("listitem", name="drafter"), page)
    await expect(verdict).to_contain_text("offline rater, not a judge")
    await box.fill("/judge label")
    await box.press("Enter")
    window = page.get_by_role("dialog")
    await window.get_by_role("radio").first.check()
    await press(window, "Next")
    await ticked()
