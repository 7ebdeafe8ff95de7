"""The page of `judge label`, worked with the keyboard alone."""

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from judge.evaluation.label import Labelling
from judge.evaluation.label.server import _Server as Server
from sandbox.tests.chromium import Tabs
from tests import row_files
from tests.browser.test_view import HOSTILE


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    rows = [{"prompt": f"{HOSTILE} {n}", "completion": f"c{n}"} for n in range(3)]
    path = row_files.write(tmp_path / "rows.jsonl", *rows)
    with closing(Labelling(path, tmp_path / "labels.jsonl")) as labelling:
        made = Server(labelling, 0)
        serving = threading.Thread(target=made.serve_forever)
        serving.start()
        yield made
        made.shutdown()
        serving.join()
        made.server_close()


async def test_replies_are_labelled_with_the_keyboard_on_a_narrow_screen(
    open_tab: Tabs, server: Server, tmp_path: Path
) -> None:
    address = f"http://127.0.0.1:{server.server_port}{server.path}"
    tab = await open_tab.blank(address, 390, "light")
    page = tab.page
    await page.goto(address)
    await page.keyboard.type("Ann")
    await page.keyboard.press("Enter")
    await expect(page.locator("#reply")).to_contain_text("c")
    found = await Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    await page.keyboard.press("Enter")  # without a score, nothing is given
    await page.keyboard.press("4")
    await page.keyboard.press("w")
    await page.keyboard.type("Short, 1 line.")
    await page.keyboard.press("Enter")
    await expect(page.locator("#found")).to_contain_text("1 reply labelled by you")
    skipped = await page.locator("#reply").inner_text()
    await page.keyboard.press("s")
    await expect(page.locator("#reply")).not_to_have_text(skipped)  # keys pressed before are lost
    await page.keyboard.press("0")
    await page.keyboard.press("Enter")
    await expect(page.locator("#found")).to_contain_text("Nothing waits for you: 2 replies")
    labels = row_files.read(tmp_path / "labels.jsonl")
    assert [(label["human"], label["reason"]) for label in labels] == [
        (4, "Short, 1 line."),
        (0, None),
    ]
    assert await page.title() == "Labels · slack-judge"
    assert await page.evaluate("document.documentElement.scrollWidth") == 390
