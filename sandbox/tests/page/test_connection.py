"""The page when its server stops, comes back, or is replaced by another one."""

from playwright.async_api import expect

from pocket_slack import Sandbox, Workspace
from sandbox.tests.conftest import MANIFEST, UNHURRIED
from sandbox.tests.page.conftest import small_workspace


def other_workspace() -> Workspace:
    workspace = Workspace(MANIFEST, limits=UNHURRIED)
    workspace.add_channel("elsewhere", [workspace.add_user("zoe", "Zoe Zed")])
    return workspace


async def test_a_page_that_finds_another_workspace_acts_as_its_first_person(open_tab) -> None:
    async with Sandbox(small_workspace()) as first:
        tab = await open_tab(first, "as=ann&inspector=all")
        port = first.port
    async with Sandbox(other_workspace(), port):
        await expect(tab.page.get_by_role("navigation").get_by_role("status")).to_contain_text(
            "Connected"
        )
        await expect(tab.page.get_by_label("Act as")).to_have_value("zoe")
        await expect(tab.page.get_by_role("alert")).to_contain_text(
            'Nobody here is called "ann"; you act as zoe now.'
        )
        await expect(tab.page.get_by_role("region", name="Inspector")).to_be_visible()
    tab.trouble.clear()  # the browser logs each attempt to connect


async def test_an_unknown_person_in_the_address_is_replaced_by_the_first_one(
    slack: Sandbox, open_tab
) -> None:
    tab = await open_tab(slack, "as=nobody")
    await expect(tab.page.get_by_role("alert")).to_contain_text('Nobody here is called "nobody"')
    await tab.page.evaluate("location.hash = '#as=bob'")
    await expect(tab.page.get_by_role("alert")).to_contain_text(
        'Nobody here is called "bob"; you act as ann now.'
    )
    await expect(tab.page.get_by_label("Act as")).to_have_value("ann")
    tab.trouble.clear()  # the browser logs the refusal


async def test_a_page_in_the_back_forward_cache_closes_its_connection(
    slack: Sandbox, open_tab
) -> None:
    tab = await open_tab(slack)
    dispatched = "name => dispatchEvent(new PageTransitionEvent(name, { persisted: true }))"

    await tab.page.evaluate(dispatched, "pagehide")
    slack.person("ben").post("help", "Is anybody there?")
    await tab.page.evaluate("() => new Promise(requestAnimationFrame)")
    message = tab.page.locator(".message", has_text="Is anybody there?")
    await expect(message).to_have_count(0)

    await tab.page.evaluate(dispatched, "pageshow")
    await expect(message).to_be_visible()
