"""Modals and the home tab, with a Bolt app that gives every kind of answer."""

from typing import Any

from playwright.async_api import Locator, expect
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from pocket_slack import Sandbox
from sandbox.tests.chromium import Tab, press, text_box
from sandbox.tests.page.every_block import plain


def option(name: str) -> dict[str, Any]:
    return {"text": plain(name), "value": name.lower()}


def field(label: str, kind: str, **element: Any) -> dict[str, Any]:
    # Many apps use one action id in every block.
    return {
        "type": "input",
        "block_id": label,
        "label": plain(label),
        "element": {"type": kind, "action_id": "v"} | element,
    }


OPTIONS = [option("One"), option("Two")]
INPUTS = [
    field("Text", "plain_text_input", min_length=3, max_length=20),
    field("Lines", "plain_text_input", multiline=True),
    field("Choice", "static_select", options=OPTIONS, initial_option=OPTIONS[1]),
    field("Radio", "radio_buttons", options=OPTIONS),
    field("Boxes", "checkboxes", options=OPTIONS, initial_options=[OPTIONS[0]]),
    field("Who", "users_select"),
    field("Where", "conversations_select"),
    field("Channel", "channels_select"),
    field("Day", "datepicker", initial_date="2026-01-02"),
    field("Time", "timepicker"),
]


# When this promise resolves, the effects that components run after drawing are done.
PAINTED = """async () => {
  for (const frame of [1, 2]) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}"""


def modal(title: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    view = {"type": "modal", "callback_id": "form", "title": plain(title), "submit": plain("Send")}
    return view | {"blocks": list(blocks), **more}


def opens(app: AsyncApp, view: dict[str, Any]) -> None:
    @app.command("/echo")
    async def on_command(ack: Any, body: Any, client: Any) -> None:
        await client.views_open(trigger_id=body["trigger_id"], view=view)
        await ack()


async def opened(tab: Tab, title: str) -> Locator:
    await text_box(tab.page, "Message to help").fill("/echo")
    await tab.page.keyboard.press("Enter")
    dialog = tab.page.get_by_role("dialog", name=title)
    await dialog.wait_for()
    return dialog


def submitted(app: AsyncApp) -> dict[str, Any]:
    """The values that the app gets for the fields "v", by label, once the form is submitted."""
    got: dict[str, Any] = {}

    @app.view("form")
    async def on_submit(ack: Any, view: Any) -> None:
        got.update({label: state["v"] for label, state in view["state"]["values"].items()})
        await ack()

    return got


async def test_rich_text_is_typed_as_plain_lines_and_submitted_as_rich_text(
    slack: Sandbox, app: AsyncApp, open_tab
) -> None:
    bold = {"type": "text", "text": "as it was", "style": {"bold": True}}
    given = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [bold]}]}
    kinds = [field("New", "rich_text_input"), field("Kept", "rich_text_input", initial_value=given)]
    opens(app, modal("Form", *kinds))
    got = submitted(app)
    dialog = await opened(await open_tab(slack), "Form")
    await expect(dialog.get_by_label("Kept")).to_have_value("as it was")
    await press(dialog, "Send")
    await expect(dialog.get_by_text("Please complete this required field.")).to_have_count(1)
    await dialog.get_by_label("New").fill("two\nlines")
    await press(dialog, "Send")
    await expect(dialog).to_have_count(0)
    typed = [{"type": "rich_text_section", "elements": [{"type": "text", "text": "two\nlines"}]}]
    assert got == {
        "New": {
            "type": "rich_text_input",
            "rich_text_value": {"type": "rich_text", "elements": typed},
        },
        "Kept": {"type": "rich_text_input", "rich_text_value": given},
    }


async def test_every_kind_of_input_reaches_the_app(slack: Sandbox, app: AsyncApp, open_tab) -> None:
    opens(app, modal("Form", *INPUTS))
    got = submitted(app)
    dialog = await opened(await open_tab(slack), "Form")
    await dialog.get_by_label("Text").fill("hello")
    await dialog.get_by_label("Lines").fill("a\nb")
    await dialog.get_by_role("radiogroup", name="Radio").get_by_label("One").check()
    await dialog.get_by_role("group", name="Boxes").get_by_label("Two").check()
    await dialog.get_by_label("Who").select_option("Ben Roy")
    await dialog.get_by_label("Where").select_option("secret")
    await dialog.get_by_label("Channel").select_option("#help")
    await dialog.get_by_label("Time").fill("09:30")
    await press(dialog, "Send")
    await expect(dialog).to_have_count(0)
    assert (got["Text"]["value"], got["Lines"]["value"]) == ("hello", "a\nb")
    assert got["Choice"]["selected_option"]["value"] == "two"
    assert got["Radio"]["selected_option"]["value"] == "one"
    assert [chosen["value"] for chosen in got["Boxes"]["selected_options"]] == ["one", "two"]
    assert got["Who"]["selected_user"] == slack.person("ben").id
    assert got["Where"]["selected_conversation"] == slack.workspace.channel("secret").id
    assert got["Channel"]["selected_channel"] == slack.workspace.channel("help").id
    assert (got["Day"]["selected_date"], got["Time"]["selected_time"]) == ("2026-01-02", "09:30")


async def test_a_choice_updates_the_modal_and_typed_text_is_kept(
    slack: Sandbox, app: AsyncApp, open_tab
) -> None:
    text = INPUTS[0]
    choice = field("Choice", "static_select", options=OPTIONS) | {"dispatch_action": True}
    opens(app, modal("Form", text, choice))
    seen: list[str] = []

    @app.action("v")
    async def on_choice(ack: Any, body: Any, client: Any) -> None:
        await ack()
        seen.append(body["view"]["state"]["values"]["Text"]["v"]["value"])
        note = {
            "type": "section",
            "text": plain(f"You chose {body['actions'][0]['selected_option']['value']}"),
        }
        await client.views_update(
            view_id=body["view"]["id"], view=modal("Form", text, choice, note)
        )

    dialog = await opened(await open_tab(slack), "Form")
    await dialog.get_by_label("Text").fill("typed")
    await dialog.get_by_label("Choice").select_option("Two")
    await expect(dialog.get_by_text("You chose two")).to_be_visible()
    assert seen == ["typed"]
    await expect(dialog.get_by_label("Text")).to_have_value("typed")
    await expect(dialog.get_by_label("Choice")).to_have_value("two")


async def test_a_new_message_does_not_take_the_focus_from_a_modal(
    slack: Sandbox, app: AsyncApp, open_tab
) -> None:
    opens(app, modal("Form", INPUTS[0], INPUTS[1]))
    tab = await open_tab(slack)
    dialog = await opened(tab, "Form")
    await press(dialog, "Send")
    await expect(dialog.get_by_label("Text")).to_be_focused()
    await dialog.get_by_label("Lines").focus()
    slack.person("ben").post("help", "news")
    await expect(tab.page.get_by_text("news", exact=True)).to_have_count(1)
    await tab.page.evaluate(PAINTED)
    await expect(dialog.get_by_label("Lines")).to_be_focused()


async def test_escape_closes_a_modal_and_the_app_is_told(
    slack: Sandbox, app: AsyncApp, open_tab
) -> None:
    opens(app, modal("Form", notify_on_close=True))
    closed: list[str] = []

    @app.view_closed("form")
    async def on_close(ack: Any, view: Any) -> None:
        closed.append(view["callback_id"])
        await ack()

    tab = await open_tab(slack)
    dialog = await opened(tab, "Form")
    await tab.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await slack.until(lambda: closed)
    await expect(text_box(tab.page, "Message to help")).to_be_focused()


async def test_two_tabs_of_one_person_show_the_same_modal(
    slack: Sandbox, app: AsyncApp, open_tab
) -> None:
    opens(app, modal("Form", INPUTS[0], INPUTS[2], INPUTS[3]))
    one = await open_tab(slack)
    other = await open_tab(slack)
    here = await opened(one, "Form")
    there = other.page.get_by_role("dialog", name="Form")
    await here.get_by_label("Text").fill("typed here")
    await here.get_by_label("Choice").select_option("One")
    await here.get_by_role("radiogroup", name="Radio").get_by_label("Two").check()
    await expect(there.get_by_label("Text")).to_have_value("typed here")
    await expect(there.get_by_label("Choice")).to_have_value("one")
    await expect(there.get_by_role("radiogroup", name="Radio").get_by_label("Two")).to_be_checked()


async def test_an_error_disappears_only_from_the_field_that_is_changed(
    slack: Sandbox, app: AsyncApp, open_tab
) -> None:
    opens(app, modal("Form", INPUTS[0], INPUTS[1]))

    @app.view("form")
    async def on_submit(ack: Any) -> None:
        await ack(response_action="errors", errors={"Text": "Says the app."})

    dialog = await opened(await open_tab(slack), "Form")
    send = dialog.get_by_role("button", name="Send")
    required = dialog.get_by_text("Please complete this required")
    await send.click()
    await expect(required).to_have_count(2)
    await dialog.get_by_label("Text").fill("valid")
    await expect(required).to_have_count(1)
    await dialog.get_by_label("Lines").fill("valid")
    await send.click()
    await expect(dialog.get_by_text("Says the app.")).to_be_visible()
    await expect(dialog.get_by_label("Text")).to_be_focused()
    await dialog.get_by_label("Text").fill("better")
    await dialog.get_by_label("Lines").fill("")
    await send.click()
    await expect(required).to_have_count(1)
    await expect(dialog.get_by_text("Says the app.")).to_have_count(0)


async def test_the_home_tab_is_published_when_it_is_opened(
    slack: Sandbox, app: AsyncApp, open_tab
) -> None:
    button = {"type": "button", "action_id": "count", "text": plain("Count")}

    def home(text: str) -> dict[str, Any]:
        header = {"type": "header", "text": plain(text)}
        return {"type": "home", "blocks": [header, {"type": "actions", "elements": [button]}]}

    @app.event("app_home_opened")
    async def on_open(event: Any, client: Any) -> None:
        await client.views_publish(user_id=event["user"], view=home("Welcome"))

    @app.action("count")
    async def on_count(ack: Any, body: Any, client: Any) -> None:
        await ack()
        await client.views_publish(user_id=body["user"]["id"], view=home("Counted"))

    page = (await open_tab(slack)).page
    await page.get_by_role("link", name="Echo").click()
    await expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
    await press(page, "Count")
    await expect(page.get_by_role("heading", name="Counted")).to_be_visible()


async def test_the_app_is_one_entry_with_two_tabs(
    slack: Sandbox, client: AsyncWebClient, open_tab
) -> None:
    tab = await open_tab(slack, "as=ann&channel=home")
    entry = tab.page.get_by_role("link", name="Echo")
    tabs = tab.page.get_by_role("navigation", name="Echo")
    await tabs.get_by_role("link", name="Messages").click()
    await expect(text_box(tab.page, "Message to echo")).to_be_visible()
    await tabs.get_by_role("link", name="Home").click()
    await client.chat_postMessage(channel=slack.person("ann").id, text="news")
    await expect(entry).to_contain_text("1 unread")
    await entry.click()
    await expect(tabs.get_by_role("link", name="Messages")).to_have_attribute(
        "aria-current", "page"
    )
    await expect(entry).not_to_contain_text("unread")
