"""The markdown block: tables, nested lists, tasks, escapes."""

from playwright.async_api import Locator, expect

from pocket_slack import Sandbox


async def shown(slack: Sandbox, open_tab, text: str) -> Locator:
    slack.person("helper").post("help", "x", blocks=[{"type": "markdown", "text": text}])
    page = (await open_tab(slack)).page
    return page.get_by_role("listitem", name="helper").locator(".markdown")


async def test_a_table_has_its_heading_its_cells_and_their_alignment(slack: Sandbox, open_tab) -> None:
    text = "Before\n| Bot | Mean |\n|:---|---:|\n| **a** \\| b | 3.5 |\n| c |\nafter"
    block = await shown(slack, open_tab, text)
    await expect(block.get_by_role("columnheader")).to_have_text(["Bot", "Mean"])
    await expect(block.get_by_role("cell")).to_have_text(["a | b", "3.5", "c", ""])
    await expect(block.get_by_role("cell").nth(1)).to_have_css("text-align", "right")
    await expect(block.locator("td strong")).to_have_text("a")
    await expect(block.locator("p")).to_have_text(["Before", "after"])


async def test_lines_with_bars_but_without_a_delimiter_row_are_text(slack: Sandbox, open_tab) -> None:
    block = await shown(slack, open_tab, "| a | b |\n| c | d |")
    await expect(block.get_by_role("table")).to_have_count(0)
    await expect(block.locator("p")).to_have_text("| a | b |\n| c | d |")


async def test_lists_can_be_nested(slack: Sandbox, open_tab) -> None:
    text = "1. one\n   - deep\n     - deeper\n   - back\n\n2. two\n   goes on\n- another list"
    block = await shown(slack, open_tab, text)
    await expect(block.locator("> ol > li")).to_have_count(2)
    await expect(block.locator("> ol > li > ul > li")).to_have_count(2)
    await expect(block.locator("> ol > li > ul > li > ul > li")).to_have_text("deeper")
    await expect(block.locator("> ol > li").last).to_have_text("two\ngoes on")
    await expect(block.locator("> ul > li")).to_have_text("another list")


async def test_tasks_are_done_or_to_do(slack: Sandbox, open_tab) -> None:
    block = await shown(slack, open_tab, "- [x] tested\n- [ ] shipped")
    await expect(block.get_by_role("checkbox", name="Done")).to_be_checked()
    await expect(block.get_by_role("checkbox", name="To do")).not_to_be_checked()
    await expect(block.get_by_role("listitem")).to_have_text(["tested", "shipped"])


async def test_escaped_characters_are_shown_as_text(slack: Sandbox, open_tab) -> None:
    block = await shown(slack, open_tab, r"\*not\* *but* ***very***")
    await expect(block.locator("p")).to_have_text("*not* but very")
    await expect(block.locator("em")).to_have_text(["but", "very"])
