"""Charts and tables in little space: nothing is cut off without a hint, and no error is in the
console.
"""

from itertools import pairwise
from typing import Any

from playwright.async_api import expect

from pocket_slack import Sandbox

COLUMNS = ["Assistant", "Replies", "Mean", "Change", "Scored 0–2", "Last seen"]


def chart(*names: str) -> dict[str, Any]:
    data = [{"label": label, "value": value} for value, label in enumerate(("one", "two"), 1)]
    series = [{"name": name, "data": data} for name in names]
    kind = {"type": "bar", "series": series, "axis_config": {"categories": ["one", "two"]}}
    return {"type": "data_visualization", "title": " and ".join(names), "chart": kind}


def table(columns: list[str]) -> dict[str, Any]:
    rows = [
        [{"type": "raw_text", "text": text} for text in row]
        for row in (columns, ["-" for _ in columns])
    ]
    return {"type": "data_table", "caption": "By assistant", "rows": rows}


async def test_a_chart_in_a_hidden_pane_causes_no_error(slack: Sandbox, open_tab) -> None:
    slack.person("helper").post("help", "x", blocks=[chart("Cases")])
    page = (await open_tab(slack, width=400)).page
    await page.get_by_role("link", name="help").click()
    bars = page.locator("figure rect")
    await expect(bars.first).to_be_visible()
    await page.get_by_role("link", name="Back to the channels").click()
    await expect(bars.first).to_be_hidden()
    # By the second frame the page has been told of its new size, and has drawn.
    await page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    await page.get_by_role("link", name="help").click()
    await expect(bars.first).to_be_visible()


async def test_a_label_of_two_words_is_broken_into_two_lines_instead_of_left_out(
    slack: Sandbox, open_tab
) -> None:
    charts = (
        ["0 (1)", "1 (25)", "2 (4)", "3 (3)", "4 (7)", "5 (111)"],
        [f"{n} Oct" for n in range(12, 20)],
    )
    blocks = []
    for labels in charts:
        data = [{"label": label, "value": number} for number, label in enumerate(labels)]
        axes = {"categories": labels, "x_label": "Score (replies)"}
        kind = {"type": "bar", "series": [{"name": "Replies", "data": data}], "axis_config": axes}
        blocks.append({"type": "data_visualization", "title": "Scores", "chart": kind})
    slack.person("helper").post("help", "x", blocks=blocks)
    page = (await open_tab(slack, width=400)).page
    await page.get_by_role("link", name="help").click()
    for number, labels in enumerate(charts):
        shown = page.locator("figure").nth(number).locator("svg text[text-anchor=middle]")
        await expect(shown).to_have_text([*labels, "Score (replies)"])
        boxes = [await each.bounding_box() for each in await shown.all()]
        assert all(
            one and next_ and one["x"] + one["width"] < next_["x"]
            for one, next_ in pairwise(boxes[:-1])
        )
        assert all(
            one and boxes[-1] and one["y"] + one["height"] <= boxes[-1]["y"] + 2
            for one in boxes[:-1]
        )


async def test_a_legend_is_shown_for_a_pie_and_for_several_series(slack: Sandbox, open_tab) -> None:
    pie = {"type": "pie", "segments": [{"label": "All of it", "value": 1}]}
    blocks = [
        chart("Alone"),
        chart("Both", "Others"),
        {"type": "data_visualization", "title": "Pie", "chart": pie},
    ]
    slack.person("helper").post("help", "x", blocks=blocks)
    page = (await open_tab(slack)).page
    await expect(page.locator("figure", has_text="Pie").locator(".legend li")).to_have_text(
        ["All of it"]
    )
    await expect(page.locator("figure", has_text="Alone").locator(".legend")).to_have_count(0)
    await expect(
        page.locator("figure", has_text="Both and Others").locator(".legend li")
    ).to_have_text(["Both", "Others"])
