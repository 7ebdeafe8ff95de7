"""Where the keyboard focus is after each action."""

from playwright.async_api import expect

from pocket_slack import Sandbox
from sandbox.tests.chromium import text_box


async def test_a_thread_takes_the_focus_and_gives_it_back(slack: Sandbox, open_tab) -> None:
    for text in ("one", "two", "three"):
        slack.person("ben").post("help", text)
    page = (await open_tab(slack)).page
    messages = page.get_by_role("list", name="Messages in help").get_by_role(
        "listitem", name="Ben Roy"
    )
    await messages.nth(1).focus()
    await page.keyboard.press("t")
    await expect(text_box(page, "Reply in the thread")).to_be_focused()
    await page.get_by_role("link", name="Close the thread").press("Enter")
    await expect(page.get_by_role("complementary", name="Thread")).to_have_count(0)
    await expect(messages.nth(1)).to_be_focused()


async def test_only_one_message_and_its_menu_are_in_the_tab_order(slack: Sandbox, open_tab) -> None:
    for text in ("one", "two", "three"):
        slack.person("ben").post("help", text)
    page = (await open_tab(slack)).page
    messages = page.get_by_role("list", name="Messages in help").get_by_role(
        "listitem", name="Ben Roy"
    )
    stops = (
        "list => [...list.querySelectorAll('li, button')].filter(one => one.tabIndex === "
        "0).map(one => one.tagName)"
    )
    messages_in_order = page.get_by_role("list", name="Messages in help")
    assert await messages_in_order.evaluate(stops) == ["LI", "BUTTON", "BUTTON"]
    await messages.last.focus()
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Tab")
    await expect(messages.nth(1).get_by_role("button", name="Reply in thread")).to_be_focused()
    assert await messages_in_order.evaluate(stops) == ["LI", "BUTTON", "BUTTON"]


async def test_deleting_a_message_moves_the_focus_to_its_neighbour(
    slack: Sandbox, open_tab
) -> None:
    for text in ("one", "two", "three"):
        slack.person("ann").post("help", text)
    page = (await open_tab(slack, "as=ann")).page
    messages = page.get_by_role("list", name="Messages in help").get_by_role(
        "listitem", name="Ann Lee"
    )
    for left in (2, 1):
        await messages.nth(1).focus()
        await page.keyboard.press("m")
        await page.get_by_role("menuitem", name="Delete message").press("Enter")
        await page.get_by_role("dialog").get_by_role("button", name="Delete").press("Enter")
        await expect(messages).to_have_count(left)
        await expect(messages.last).to_be_focused()
    await expect(messages).to_contain_text("one")


async def test_the_home_key_goes_to_the_first_message_even_of_a_long_channel(
    slack: Sandbox, open_tab
) -> None:
    for number in range(150):
        slack.person("ben").post("help", f"message {number}.")
    page = (await open_tab(slack)).page
    messages = page.get_by_role("list", name="Messages in help").get_by_role(
        "listitem", name="Ben Roy"
    )
    await messages.last.focus()
    await page.keyboard.press("Home")
    await expect(messages.first).to_be_focused()
    await expect(messages.first).to_contain_text("message 0.")
    await expect(messages.first).to_be_in_viewport()
    await page.keyboard.press("End")
    await expect(messages.last).to_contain_text("message 149.")
    await expect(messages.last).to_be_focused()
