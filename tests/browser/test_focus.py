"""Where the keyboard is after each thing that somebody does."""

from playwright.async_api import expect

from sandbox import Sandbox


async def test_a_thread_takes_the_focus_and_gives_it_back(slack: Sandbox, open_tab) -> None:
    for text in ("one", "two", "three"):
        slack.person("ben").post("help", text)
    page = (await open_tab(slack)).page
    messages = page.get_by_role("list", name="Messages in help").get_by_role("listitem", name="Ben Roy")
    await messages.nth(1).focus()
    await page.keyboard.press("t")
    await expect(page.get_by_role("textbox", name="Reply in the thread")).to_be_focused()
    await page.get_by_role("link", name="Close the thread").press("Enter")
    await expect(page.get_by_role("complementary", name="Thread")).to_have_count(0)
    await expect(messages.nth(1)).to_be_focused()


async def test_who_joins_a_channel_goes_on_with_the_composer(slack: Sandbox, open_tab) -> None:
    slack.workspace.add_channel("random", [slack.workspace.user("ben")])
    page = (await open_tab(slack)).page
    await page.get_by_role("link", name="random").click()
    await page.get_by_role("button", name="Join").press("Enter")
    await expect(page.get_by_role("textbox", name="Message to random")).to_be_focused()


async def test_the_composer_grows_with_wrapped_text(slack: Sandbox, open_tab) -> None:
    page = (await open_tab(slack)).page
    composer = page.get_by_role("textbox", name="Message to help")
    height = "box => box.getBoundingClientRect().height"
    empty = await composer.evaluate(height)
    await composer.fill("a long sentence " * 30)
    grown = await composer.evaluate(height)
    assert grown > 2 * empty
    await composer.fill("a long sentence " * 300)
    assert grown < await composer.evaluate(height) < 300
