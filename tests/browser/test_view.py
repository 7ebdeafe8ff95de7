"""The page of `judge view`, opened as a file."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Locator, Page, expect

from judge.evaluation.view import save_page
from judge.evaluation.view.replies import read_replies
from sandbox.tests.chromium import Tabs, press

Open = Callable[..., Awaitable[Page]]
NAMED = {"rubric": "additive-5", "rubric_version": "f846c469"}
HOSTILE = (
    "</script><script>document.title = 'broken'</script><img src=x onerror=\"document.title = "
    "'broken'\"><!-- <b>bold</b> &amp; \u202etxt.evil\u202c a\u200bb\x07 https://example.com"
)


def a_row(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "prompt": f"Question {number}?",
        "completion": f"Response {number}.",
        "score": number % 6,
        "justification": f"Reason {number}.",
        "ratings": [{"model": "m", "score": number % 6, "unscored_reason": None}],
        "model": "m",
        **NAMED,
        "input_tokens": 1468,
        "judged_at": f"2026-{9 + number % 2:02d}-0{1 + number % 9}",
        **changes,
    }


ROWS = [
    *(a_row(number) for number in range(30)),
    a_row(30, score=5, human=1, reason="Wrong port.", model="other"),
    a_row(31, score=4, human=3, flags=["asks_for_score"], topic="hotels"),
    a_row(
        32,
        score=None,
        unscored_detail="The model refused to judge.",
        justification="",
        topic="other",
    ),
]


@pytest.fixture
def open_view(open_tab: Tabs, tmp_path: Path) -> Open:
    """Opens rows as a page; no page may log an error or request anything but its own file."""

    async def open_here(
        rows: Sequence[Mapping[str, Any]] = ROWS, width: int = 1280, scheme: Any = "light"
    ) -> Page:
        source = tmp_path / "scored.jsonl"
        file = tmp_path / "page.html"
        source.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        save_page(file, source.name, read_replies(source))
        tab = await open_tab.blank(file.as_uri(), width, scheme)
        await tab.page.goto(file.as_uri())
        return tab.page

    return open_here


def options(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Replies").get_by_role("option")


def reply(page: Page) -> Locator:
    return page.get_by_role("article", name="The chosen reply")


async def test_each_judge_has_its_figures_and_a_line_in_the_trend_and_its_table(
    open_view: Open,
) -> None:
    days = ((2, "2026-10-01"), (4, "2026-10-01T23:00"), (5, "2026-10-08"))
    rows = [
        a_row(0, score=score, judged_at=day, model=model)
        for model in ("m", "other")
        for score, day in days
    ]
    page = await open_view(rows)
    heading = page.get_by_role("heading", name="1. m · additive-5 (f846c469)")
    first = page.locator(".card").filter(has=heading)
    await expect(first).to_contain_text("Mean 3.67 of 3 scores, by the judge alone")
    await expect(first.get_by_role("button", name="Score 4: 1 reply")).to_be_visible()
    second = page.get_by_role("heading", name="2. other · additive-5 (f846c469)")
    await expect(second).to_be_visible()
    figure = page.get_by_role("figure")
    await expect(figure.locator("polyline")).to_have_count(2)
    await expect(figure.locator("text").last).to_have_text("2")
    await figure.get_by_text("As a table").click()
    await expect(figure.get_by_role("row").nth(1)).to_have_text("12026-09-2830 to 52")
    await expect(figure.get_by_role("row").nth(4)).to_have_text("22026-10-055unknown1")


async def test_search_finds_all_words_in_any_text(open_view: Open) -> None:
    page = await open_view()
    status = page.get_by_role("status").filter(has_text="repl")
    await expect(status).to_have_text("33 replies")
    await page.get_by_role("searchbox", name="Search").fill("RESPONSE reason 17.")
    await expect(status).to_have_text("1 of 33 replies")
    await expect(reply(page)).to_contain_text("Question 17?")
    await page.get_by_role("searchbox", name="Search").fill("wrong port")
    await expect(reply(page)).to_contain_text("Response 30.")
    await page.get_by_role("searchbox", name="Search").fill("nowhere")
    await expect(status).to_have_text("0 of 33 replies")
    await expect(reply(page)).to_be_hidden()


async def test_filters_and_bars_narrow_the_list_and_it_can_be_ordered(open_view: Open) -> None:
    page = await open_view()
    bar = page.locator(".card").first.get_by_role("button", name="Score 5: 5 replies")
    await bar.click()
    await expect(page.locator("#found")).to_have_text("5 of 33 replies")
    await expect(bar).to_have_attribute("aria-pressed", "true")
    await bar.click()
    await expect(page.locator("#found")).to_have_text("33 replies")
    order = page.get_by_role("combobox", name="Order")
    await order.select_option("lowest score first")
    first = reply(page).get_by_role("heading", name="Line 1", exact=True)
    await expect(first).to_be_visible()
    await order.select_option("judge and people differ most first")
    await expect(reply(page).get_by_role("heading", name="Line 31", exact=True)).to_be_visible()
    await expect(options(page).nth(1)).to_contain_text("Question 31?")
    for name, choice, number in (
        ("Score", "unscored", "1 of 33"),
        ("Score", "3", "5 of 33"),
        ("Judge", "other · additive-5 (f846c469)", "1 of 33"),
        ("Flag", "response asks for a score", "1 of 33"),
        ("Topic", "hotels", "1 of 33"),
    ):
        select = page.get_by_role("combobox", name=name)
        await select.select_option(choice)
        await expect(page.locator("#found")).to_have_text(f"{number} replies")
        await select.select_option(index=0)
    await page.get_by_role("checkbox", name="judge and people differ by 2 or more").check()
    await expect(page.locator("#found")).to_have_text("1 of 33 replies")
    await expect(reply(page)).to_contain_text("Judge and people differ by 4")


async def test_reply_shows_ratings_labels_and_tokens_and_which_texts_are_not_stored(
    open_view: Open,
) -> None:
    page = await open_view([ROWS[30] | {"blind": False}, ROWS[32], {"score": 4, "case": 7}])
    await expect(reply(page).get_by_role("row")).to_have_text(
        ["ModelScore", "m0", "ScoreGivenWhy", "1after seeing the judge'sWrong port."]
    )
    await expect(reply(page)).to_contain_text("Tokens in1,468")
    await expect(reply(page)).to_contain_text("Reason 30.")
    await options(page).nth(1).click()
    await expect(reply(page)).to_contain_text("Unscored")
    await expect(reply(page)).to_contain_text("The model refused to judge.")
    await options(page).nth(2).click()
    await expect(reply(page).get_by_role("heading", name="Case 7")).to_be_visible()
    await expect(reply(page).get_by_text("Not stored.")).to_have_count(2)
    await expect(options(page).nth(2)).to_contain_text("text not stored")


async def test_hostile_texts_are_shown_as_text(open_view: Open) -> None:
    fields = ("prompt", "completion", "justification", "reason", "model", "prompt_id")
    row = a_row(1, **dict.fromkeys(fields, HOSTILE), human=1, flags=[HOSTILE])
    row["ratings"] = [{"model": HOSTILE, "score": 1}]
    page = await open_view([row, a_row(2)])
    shown = HOSTILE.replace("\u202e", "⟦U+202E⟧").replace("\u202c", "⟦U+202C⟧")
    shown = shown.replace("\u200b", "⟦U+200B⟧").replace("\x07", "⟦U+0007⟧")
    for text in await reply(page).locator(".text").all_inner_texts():
        assert text == shown
    assert await reply(page).locator(".text").count() == 3
    await expect(reply(page).get_by_role("cell")).to_have_text([shown, "1", "1", shown])
    await expect(options(page).first).to_contain_text(shown[:150])
    assert await page.locator("img, b, script:not(#data):not([type=module])").count() == 0
    await expect(page).to_have_title("scored.jsonl · slack-judge")


async def test_long_text_is_folded_and_can_be_shown_in_full(open_view: Open) -> None:
    text = "word " * 8_000 + "the end"
    page = await open_view([a_row(1, completion=text)])
    box = reply(page).locator(".text").nth(1)
    await expect(box).not_to_contain_text("the end")
    await page.get_by_role("searchbox", name="Search").fill("end")
    await expect(page.locator("#found")).to_have_text("1 reply")
    await press(reply(page), "Show all 40,007 characters")
    assert await box.text_content() == text


async def test_text_is_not_kerned_because_long_words_would_freeze_the_page(open_view: Open) -> None:
    text = (
        "AV" * 50_000
    )  # Chromium takes a minute for these with kerning, and less than a second without
    page = await open_view([a_row(1), a_row(2, model=text, prompt_id=text, human=1, reason=text)])
    kerned = (
        "all => all.filter(each => getComputedStyle(each).fontKerning !== 'none').map(each => "
        "each.tagName)"
    )
    assert await page.locator("body *").evaluate_all(kerned) == []
    await page.keyboard.press("j")
    await expect(reply(page).get_by_role("cell")).to_have_text(["m", "2", "1", text])
    assert await page.locator("body *").evaluate_all(kerned) == []


async def test_only_a_few_rows_of_many_replies_are_drawn_at_a_time(open_view: Open) -> None:
    page = await open_view([a_row(number) for number in range(3_000)])
    await expect(page.locator("#found")).to_have_text("3,000 replies")
    assert await options(page).count() < 40
    await page.get_by_role("listbox").focus()
    await page.keyboard.press("End")
    await expect(reply(page)).to_contain_text("Question 2999?")
    chosen = options(page).and_(page.get_by_role("option", selected=True))
    await expect(chosen).to_be_in_viewport()
    await expect(chosen).to_have_attribute("aria-posinset", "3000")
    assert await options(page).count() < 40
    await page.get_by_role("listbox").evaluate("list => { list.scrollTop = 0 }")
    await expect(options(page).first).to_contain_text("Question 0?")
    await expect(page.get_by_role("listbox")).not_to_have_attribute(
        "aria-activedescendant", "option-2999"
    )


async def test_everything_can_be_reached_by_keyboard(open_view: Open) -> None:
    page = await open_view()
    await page.keyboard.press("/")
    await expect(page.get_by_role("searchbox")).to_be_focused()
    await page.keyboard.type("question /jk")
    await expect(page.locator("#found")).to_have_text("0 of 33 replies")
    await page.keyboard.press("Escape")
    await expect(page.locator("#found")).to_have_text("33 replies")
    listbox = page.get_by_role("listbox")
    await expect(listbox).to_be_focused()
    for key, question in (
        ("j", 1),
        ("ArrowDown", 2),
        ("k", 1),
        ("ArrowUp", 0),
        ("ArrowUp", 0),
        ("PageDown", 10),
    ):
        await page.keyboard.press(key)
        await expect(options(page).and_(page.get_by_role("option", selected=True))).to_contain_text(
            f"Question {question}?"
        )
        await expect(reply(page)).to_contain_text(f"Question {question}?")
    active = await listbox.get_attribute("aria-activedescendant")
    await expect(page.locator(f"#{active}")).to_contain_text("Question 10?")
    await page.keyboard.press("Enter")
    await expect(reply(page)).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(listbox).to_be_focused()


async def test_page_has_no_accessibility_problems(open_view: Open) -> None:
    for scheme, width in (("light", 1280), ("dark", 400)):
        page = await open_view(width=width, scheme=scheme)
        await page.get_by_role("combobox", name="Order").select_option(
            "judge and people differ most first"
        )
        if width == 400:  # where the list and a reply are not beside each other
            assert await problems(page) == []
        await options(page).first.click()
        await page.get_by_text("As a table").click()
        assert await problems(page) == []


async def problems(page: Page) -> list[Any]:
    found = await Axe().run(page)
    return [
        (each["id"], [node["html"] for node in each["nodes"]])
        for each in found.response["violations"]
    ]


async def test_small_screen_shows_the_list_or_the_reply_and_never_scrolls_sideways(
    open_view: Open,
) -> None:
    page = await open_view([a_row(1, completion="a" * 500, model="m" * 200), *ROWS], width=400)
    for chosen in (False, True):
        if chosen:
            await options(page).first.click()
        await expect(reply(page)).to_be_visible(visible=chosen)
        await expect(page.get_by_role("listbox")).to_be_visible(visible=not chosen)
        assert await page.evaluate("document.documentElement.scrollWidth") <= 400
    await press(reply(page), "Back to the list")
    await expect(page.get_by_role("listbox")).to_be_focused()
    await expect(reply(page)).to_be_hidden()
