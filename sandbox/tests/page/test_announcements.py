"""What the page announces to screen readers."""

from typing import Any

from playwright.async_api import Locator, expect
from slack_sdk.web.async_client import AsyncWebClient

from pocket_slack import Sandbox
from sandbox.tests.chromium import Tab


def spoken(tab: Tab) -> Locator:
    return tab.page.locator("[aria-live=polite].sr-only")


async def listen(tab: Tab) -> None:
    """Collects all announcements in the page's variable `said`."""
    await tab.page.evaluate(
        """() => {
            window.said = [];
            const region = document.querySelector("[aria-live=polite].sr-only");
            new MutationObserver(() => said.push(region.textContent)).observe(region, {childList: true});
        }"""
    )


async def test_a_verdict_that_replaces_its_placeholder_is_announced_when_it_stops_changing(
    slack: Sandbox, client: AsyncWebClient, open_tab
) -> None:
    tab = await open_tab(slack)
    await listen(tab)
    where: dict[str, Any] = {"channel": slack.workspace.channel("help").id}
    where["ts"] = (await client.chat_postMessage(**where, text="Judging"))["ts"]
    await expect(spoken(tab)).to_have_text("New message: Judging")
    for text in ("Score", "Score 4", f"Score 4 of 5, <@{slack.person('ben').id}>"):
        await client.chat_update(**where, text=text)
    await expect(spoken(tab)).to_have_text("Changed message: Score 4 of 5, @ben")
    assert await tab.page.evaluate("said") == [
        "New message: Judging",
        "Changed message: Score 4 of 5, @ben",
    ]


async def test_an_edit_by_a_person_is_not_announced(
    slack: Sandbox, client: AsyncWebClient, open_tab
) -> None:
    where: dict[str, Any] = {"channel": slack.workspace.channel("help").id}
    where["ts"] = (await client.chat_postMessage(**where, text="Judging"))["ts"]
    message = slack.person("ben").post("help", "a typo")
    tab = await open_tab(slack)
    await listen(tab)
    slack.person("ben").edit(message, "no typo")
    await expect(tab.page.get_by_role("main")).to_contain_text("no typo")
    await client.chat_update(**where, text="Score 4 of 5")
    await expect(spoken(tab)).to_have_text("Changed message: Score 4 of 5")
    assert await tab.page.evaluate("said") == ["Changed message: Score 4 of 5"]


async def test_a_page_that_starts_on_the_home_tab_has_nothing_to_announce(
    slack: Sandbox, open_tab
) -> None:
    tab = await open_tab(slack, "as=ann&channel=home")
    await tab.page.reload()
    await expect(tab.page.get_by_role("main", name="Echo home")).to_be_visible()
    slack.person("ben").post("help", "elsewhere")
    await tab.page.get_by_role("link", name="help").click()
    await expect(tab.page.get_by_role("list", name="Messages in help")).to_contain_text("elsewhere")
    await expect(spoken(tab)).to_be_empty()
