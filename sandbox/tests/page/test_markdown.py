"""The markdown block: tables, nested lists, tasks, escapes."""

from playwright.async_api import expect

from pocket_slack import Sandbox

TABLE = "Before\n| Bot | Mean |\n|:---|---:|\n| **a** \\| b | 3.5 |\n| c |\nafter"
NO_TABLE = "| a | b |\n| c | d |"
LISTS = "1. one\n   - deep\n     - deeper\n   - back\n\n2. two\n   goes on\n- another list"
TASKS = "- [x] tested\n- [ ] shipped"
ESCAPED = r"\*not\* *but* ***very***"


async def test_tables_lists_tasks_and_escapes_are_drawn(slack: Sandbox, open_tab) -> None:
    texts = (TABLE, NO_TABLE, LISTS, TASKS, ESCAPED)
    slack.person("helper").post(
        "help", "x", blocks=[{"type": "markdown", "text": text} for text in texts]
    )
    blocks = (
        (await open_tab(slack))
        .page.get_by_role("listitem", name="helper")
        .first.locator(".markdown")
    )
    await expect(blocks).to_have_count(len(texts))
    table, no_table, lists, tasks, escaped = await blocks.all()

    await expect(table.get_by_role("columnheader")).to_have_text(["Bot", "Mean"])
    await expect(table.get_by_role("cell")).to_have_text(["a | b", "3.5", "c", ""])
    await expect(table.get_by_role("cell").nth(1)).to_have_css("text-align", "right")
    await expect(table.locator("td strong")).to_have_text("a")
    await expect(table.locator("p")).to_have_text(["Before", "after"])

    await expect(no_table.get_by_role("table")).to_have_count(0)
    await expect(no_table.locator("p")).to_have_text(NO_TABLE)

    await expect(lists.locator("> ol > li")).to_have_count(2)
    await expect(lists.locator("> ol > li > ul > li")).to_have_count(2)
    await expect(lists.locator("> ol > li > ul > li > ul > li")).to_have_text("deeper")
    await expect(lists.locator("> ol > li").last).to_have_text("two\ngoes on")
    await expect(lists.locator("> ul > li")).to_have_text("another list")

    await expect(tasks.get_by_role("checkbox", name="Done")).to_be_checked()
    await expect(tasks.get_by_role("checkbox", name="To do")).not_to_be_checked()
    await expect(tasks.get_by_role("listitem")).to_have_text(["tested", "shipped"])

    await expect(escaped.locator("p")).to_have_text("*not* but very")
    await expect(escaped.locator("em")).to_have_text(["but", "very"])
