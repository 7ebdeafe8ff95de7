"""The page as a whole: connection, keyboard, accessibility, small screens, the inspector, every
block.
"""

import re
from itertools import pairwise
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, expect
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from pocket_slack import Sandbox
from pocket_slack.blocks import check_blocks
from sandbox.tests.chromium import press, text_box
from sandbox.tests.page.conftest import small_workspace
from sandbox.tests.page.every_block import EVERY_BLOCK, EVERY_INPUT


async def test_a_page_that_reconnects_has_all_messages_and_the_draft(open_tab) -> None:
    workspace = small_workspace()
    async with Sandbox(workspace) as first:
        tab = await open_tab(first)
        await text_box(tab.page, "Message to help").fill("half a sen")
        port = first.port
    await expect(tab.page.get_by_role("status")).to_contain_text("Connecting again")
    async with Sandbox(workspace, port) as second:
        second.person("ben").post("help", "while you were away")
        await expect(tab.page.get_by_role("status")).to_contain_text("Connected")
        await expect(tab.page.get_by_role("main")).to_contain_text("while you were away")
        await expect(text_box(tab.page, "Message to help")).to_have_value("half a sen")
    tab.trouble.clear()  # the browser logs each attempt to connect


async def test_the_menu_of_a_message_can_be_opened_by_keyboard(
    slack: Sandbox, app: AsyncApp, open_tab
) -> None:
    @app.shortcut("echo_this")
    async def on_shortcut(ack: Any, shortcut: Any, client: AsyncWebClient) -> None:
        await ack()
        await client.chat_postMessage(
            channel=shortcut["channel"]["id"], text=f"again: {shortcut['message']['text']}"
        )

    for text in ("one", "two", "three"):
        slack.person("ben").post("help", text)
    page = (await open_tab(slack)).page
    messages = page.get_by_role("listitem", name="Ben Roy")
    await messages.last.focus()
    await page.keyboard.press("ArrowUp")
    await expect(messages.nth(1)).to_be_focused()
    await page.keyboard.press("m")
    await expect(page.get_by_role("menuitem", name="Echo this")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("menu")).to_have_count(0)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("menuitem", name="Echo this")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("main")).to_contain_text("again: two")


async def test_every_block_is_drawn_and_an_unknown_one_is_shown_as_json(
    slack: Sandbox, open_tab
) -> None:
    check_blocks(EVERY_BLOCK)
    slack.person("helper").post(
        "help", "x", blocks=[*EVERY_BLOCK, {"type": "call", "call_id": "R1"}]
    )
    tab = await open_tab(slack)
    message = tab.page.get_by_role("listitem", name="helper")
    await expect(message.locator("details.unknown")).to_have_count(1)
    await message.get_by_text("A call block, which this page does not draw").click()
    await expect(message.get_by_text('"R1"')).to_be_visible()
    await expect(message.get_by_role("img", name="A picture from elsewhere").last).to_be_visible()
    await expect(message.get_by_role("table", name="Answers")).to_contain_text("help")
    await expect(message.locator("svg .series-1").first).to_be_visible()
    await expect(message.get_by_role("link", name="Chapter 4").last).to_be_visible()
    await expect(message.get_by_text("Searched three chapters").first).to_be_hidden()
    await expect(message.get_by_text("inside")).to_be_visible()
    await message.get_by_text("Two records").click()
    await expect(message.get_by_text("inside")).to_be_hidden()


async def test_the_page_has_no_accessibility_problems(
    slack: Sandbox, client: AsyncWebClient, open_tab
) -> None:
    ann = slack.person("ann")
    parent = slack.person("helper").post("help", "x", blocks=EVERY_BLOCK)
    ann.post("help", "a reply to @ben", thread_ts=parent.ts)
    channel = slack.workspace.channel("help").id
    await client.chat_postEphemeral(channel=channel, user=ann.id, text="between us")
    tab = await open_tab(slack, f"as=ann&channel={channel}&thread={parent.ts}&inspector=all")
    await press(tab.page.get_by_role("listitem", name="helper").first, "More actions")
    assert await problems(tab.page) == []
    await tab.page.keyboard.press("Escape")
    await open_modal(slack, client)
    await press(tab.page.get_by_role("dialog"), "Send")
    await tab.page.get_by_text("Please complete this required field.").first.wait_for()
    assert await problems(tab.page) == []


async def test_a_small_screen_shows_one_pane_at_a_time(slack: Sandbox, open_tab) -> None:
    parent = slack.person("ann").post("help", "a question")
    slack.person("ben").post("help", "an answer", thread_ts=parent.ts)
    page = (await open_tab(slack, width=400)).page
    sidebar = page.get_by_role("navigation")
    channel = page.get_by_role("main")
    thread = page.get_by_role("complementary", name="Thread")
    await expect(channel).to_be_hidden()
    await sidebar.get_by_role("link", name="help").click()
    await expect(sidebar).to_be_hidden()
    await press(channel, "1 reply")
    await expect(thread).to_be_visible()
    await expect(channel).to_be_hidden()
    assert await page.evaluate("document.documentElement.scrollWidth") <= 400
    await thread.get_by_role("link", name="Close the thread").click()
    await channel.get_by_role("link", name="Back to the channels").click()
    await expect(sidebar).to_be_visible()


async def test_the_menu_of_a_message_covers_no_text_on_a_touch_screen(
    slack: Sandbox, open_tab
) -> None:
    long = slack.workspace.add_user("cat", "Catherine With Quite A Long Name Of Hers")
    slack.workspace.add_channel("team", [long, slack.workspace.user("ann")])
    for name in ("cat", "ann"):
        slack.person(name).post("team", "a text that is so long that it needs several lines " * 3)
    page = (await open_tab(slack, "as=ann", width=390, is_touched=True)).page
    await page.get_by_role("link", name="team").click()
    messages = page.get_by_role("list", name="Messages in team").get_by_role(
        "listitem", name="so long"
    )
    await expect(messages.last.get_by_role("button", name="More actions")).to_be_in_viewport(
        ratio=1
    )
    covered = """message => {
        const menu = message.querySelector(".message-menu").getBoundingClientRect();
        const range = document.createRange();
        range.selectNodeContents(message.querySelector(".message-body"));
        return [...range.getClientRects()].filter(
            (text) => text.height < 30 && text.right > menu.left && text.top < menu.bottom && text.bottom > menu.top
        ).length;
    }"""
    assert [await message.evaluate(covered) for message in await messages.all()] == [0, 0]


async def test_a_modal_scrolls_as_a_whole_between_its_header_and_its_buttons(
    slack: Sandbox, client: AsyncWebClient, open_tab
) -> None:
    page = (await open_tab(slack, "as=ann")).page
    await open_modal(slack, client)
    window = page.get_by_role("dialog")
    await window.locator("textarea").first.fill("a line\n" * 20)
    scrolling = """dialog => [dialog, ...dialog.querySelectorAll("*")]
        .filter((one) => one.scrollHeight > one.clientHeight && /auto|scroll/.test(getComputedStyle(one).overflowY))
        .map((one) => one.className)"""
    assert await window.evaluate(scrolling) == ["modal-body"]
    await expect(window.get_by_role("heading", name="Inputs")).to_be_in_viewport(ratio=1)
    await expect(window.get_by_role("button", name="Send")).to_be_in_viewport(ratio=1)


async def test_a_narrow_chart_leaves_labels_out_instead_of_shrinking_them(
    slack: Sandbox, open_tab
) -> None:
    weeks = [f"week-{number}" for number in range(1, 9)]
    data = [{"label": week, "value": index % 2} for index, week in enumerate(weeks)]
    axis = {"categories": weeks, "x_label": "Weeks"}
    chart = {"type": "line", "series": [{"name": "Cases", "data": data}], "axis_config": axis}
    block = {"type": "data_visualization", "title": "Cases", "chart": chart}
    slack.person("helper").post("help", "x", blocks=[block])
    page = (await open_tab(slack, width=400)).page
    await page.get_by_role("link", name="help").click()
    letters = page.locator("figure svg text")
    labels = letters.filter(has_text=re.compile(r"week-\d"))
    await expect(labels.first).to_be_visible()
    await expect(labels).not_to_have_count(len(weeks))
    boxes = await labels.evaluate_all(
        "all => all.map((each) => each.getBoundingClientRect().toJSON())"
    )
    assert all(box["height"] > 11 for box in boxes)
    assert all(one["right"] < next_["left"] for one, next_ in pairwise(boxes))
    await expect(letters.filter(has_text=".5")).to_have_count(0)


async def test_the_inspector_shows_the_traffic_without_secrets(
    slack: Sandbox, app: AsyncApp, open_tab
) -> None:
    @app.command("/echo")
    async def on_command(ack: Any) -> None:
        await ack()

    tab = await open_tab(slack)
    await press(tab.page, "Inspector")
    await slack.settled(slack.person("ann").command("help", "/echo", "hi"))
    inspector = tab.page.get_by_role("region", name="Inspector")
    entries = inspector.get_by_role("list", name="Traffic").get_by_role("listitem")
    await expect(entries.first).to_contain_text(re.compile(r"ack\s*[\d.]+ ms · /echo hi"))
    await entries.filter(has_text="envelope").locator("summary").click()
    await expect(inspector.get_by_text('"command": "/echo"')).to_be_visible()
    assert slack.workspace.verification_token not in await inspector.inner_text()
    await inspector.get_by_role("button", name="Redeliver").first.click()
    await expect(entries.filter(has_text="/echo hi (once more)")).to_have_count(1)
    await inspector.get_by_label("Filter").fill("apps.connections.open")
    await expect(entries).to_have_count(1)
    await entries.locator("summary").click()
    await expect(entries).to_contain_text("ticket=•••")
    await inspector.get_by_label("Filter").fill("never said")
    await expect(entries).to_have_text('Nothing has "never said" in it.')


async def test_faults_can_be_set_with_buttons(
    slack: Sandbox, app: AsyncApp, client: AsyncWebClient, open_tab
) -> None:
    tab = await open_tab(slack, "as=ann&inspector=all")
    inspector = tab.page.get_by_role("region", name="Inspector")
    channel = slack.workspace.channel("help").id
    for button, status in (("429", 429), ("500", 500), ("Posted, but error", 500)):
        await inspector.get_by_role("button", name=button, exact=True).click()
        await expect(inspector.get_by_role("list").locator("li").first).to_contain_text(
            "waits for chat.postMessage"
        )
        with pytest.raises(SlackApiError) as caught:
            await client.chat_postMessage(channel=channel, text=button)
        assert caught.value.response.status_code == status
    await expect(tab.page.get_by_role("main")).to_contain_text("Posted, but error")
    waiting = inspector.get_by_role("status")
    entries = inspector.get_by_role("list").locator("li")
    await expect(entries.filter(has_text="met by chat.postMessage")).to_have_count(3)
    await expect(waiting).to_be_empty()
    await press(inspector, "Slow network")
    await expect(waiting).to_have_text("Trouble waits for 10 calls")
    await press(inspector, "No more trouble")
    await expect(waiting).to_be_empty()
    await expect(entries.first).to_contain_text("those that waited are forgotten")
    await press(inspector, "Drop socket")
    await slack.until(
        lambda: [
            entry for entry in slack.workspace.journal.of("connection") if entry.data.get("closed")
        ]
    )


async def open_modal(slack: Sandbox, client: AsyncWebClient) -> None:
    """Opens a modal with every kind of input for ann."""
    title = {"type": "plain_text", "text": "Inputs"}
    view = {
        "type": "modal",
        "title": title,
        "submit": {"type": "plain_text", "text": "Send"},
        "blocks": EVERY_INPUT,
    }
    await client.views_open(
        trigger_id=slack.workspace.grants.new_trigger(slack.person("ann").id), view=view
    )


async def problems(page: Page) -> list[str]:
    """The violations that axe-core rates moderate to critical, with the elements; in dark colours,
    of contrast only.
    """
    found = (await Axe().run(page)).response["violations"]
    await page.emulate_media(color_scheme="dark")
    found += (await Axe().run(page, options={"runOnly": ["color-contrast"]})).response["violations"]
    await page.emulate_media(color_scheme="light")
    return [
        f"{each['id']}: {each['help']}: {[node['target'] for node in each['nodes']]}"
        for each in found
        if each["impact"] != "minor"
    ]
