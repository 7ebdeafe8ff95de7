"""Messages: who sees them, how they are sent, how they are drawn."""

from typing import Any

from playwright.async_api import Locator, expect
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from pocket_slack import Sandbox
from sandbox.tests.chromium import Tab, choose, press, text_box


def message(tab: Tab, author: str) -> Any:
    return tab.page.get_by_role("list", name="Messages in help").get_by_role(
        "listitem", name=author
    )


async def say(tab: Tab, text: str) -> None:
    await text_box(tab.page, "Message to help").fill(text)
    await tab.page.keyboard.press("Enter")


async def test_a_typed_message_is_formatted_for_all_people_and_edited_as_it_was_typed(
    slack: Sandbox, open_tab
) -> None:
    ann = await open_tab(slack, "as=ann")
    ben = await open_tab(slack, "as=ben")
    typed = "*very* `good` :tada: @ben"
    await say(ann, typed)
    for tab in (ann, ben):
        shown = message(tab, "Ann Lee")
        await expect(shown.locator("strong").filter(has_text="very")).to_be_visible()
        await expect(shown.locator("code")).to_have_text("good")
        await expect(shown).to_contain_text("🎉 @ben")
    assert "<@U" in slack.person("ben").messages("help")[0].text
    await press(message(ann, "Ann Lee"), "More actions")
    await choose(ann.page, "Edit message")
    await expect(ann.page.get_by_role("dialog").get_by_label("Text")).to_have_value(typed)


async def test_acting_as_another_person_shows_what_they_see(slack: Sandbox, open_tab) -> None:
    tab = await open_tab(slack, "as=ann")
    await expect(tab.page.get_by_role("link", name="secret")).to_be_visible()
    await text_box(tab.page, "Message to help").fill("what only ann knows")
    await tab.page.get_by_label("Act as").select_option("Ben Roy")
    await expect(tab.page.get_by_role("link", name="secret")).to_have_count(0)
    await expect(text_box(tab.page, "Message to help")).to_have_value("")
    await say(tab, "it is me")
    await expect(message(tab, "Ben Roy")).to_contain_text("it is me")


async def test_a_block_that_cannot_be_drawn_does_not_affect_other_messages(
    slack: Sandbox, open_tab
) -> None:
    helper = slack.person("helper")
    helper.post("help", ":constructor: {toString}", blocks=[])
    helper.post("help", "x", blocks=[{"type": "constructor"}, {"type": "table", "rows": 7}])
    helper.post("help", "still here")
    tab = await open_tab(slack)
    await expect(message(tab, "helper").first).to_contain_text(":constructor: {toString}")
    await expect(message(tab, "helper").nth(1).locator("details.unknown")).to_have_count(2)
    await expect(message(tab, "helper").last).to_contain_text("still here")
    tab.trouble.clear()  # the page warns about the block in the console


async def test_a_draft_is_kept_until_the_person_comes_back_to_the_channel(
    slack: Sandbox, open_tab
) -> None:
    tab = await open_tab(slack)
    await text_box(tab.page, "Message to help").fill("half a sen")
    await tab.page.get_by_role("link", name="secret").click()
    await expect(text_box(tab.page, "Message to secret")).to_have_value("")
    await tab.page.get_by_role("link", name="help").click()
    await expect(text_box(tab.page, "Message to help")).to_have_value("half a sen")


async def test_a_click_without_an_answer_gives_a_notice(
    slack: Sandbox, client: AsyncWebClient, open_tab
) -> None:
    tab = await open_tab(slack)
    button = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}
    blocks = [{"type": "actions", "elements": [button]}]
    await client.chat_postMessage(
        channel=slack.workspace.channel("help").id, text="x", blocks=blocks
    )
    await press(tab.page, "Go")
    await expect(tab.page.get_by_role("alert")).to_contain_text(
        "The app did not answer (dispatch_failed)."
    )


async def test_people_edit_and_delete_their_own_messages(slack: Sandbox, open_tab) -> None:
    slack.person("ben").post("help", "not ann's")
    slack.person("ann").post("help", "tell @ben: 1 < 2")
    page = (await open_tab(slack, "as=ann")).page
    mine = page.get_by_role("listitem", name="Ann Lee")
    await press(mine, "More actions")
    await choose(page, "Edit message")
    text = page.get_by_role("dialog", name="Edit message").get_by_label("Text")
    await expect(text).to_have_value("tell @ben: 1 < 2")
    await text.fill(" \n")
    await press(page, "Save")
    await expect(text).to_have_js_property(
        "validationMessage", "A message needs a text; delete it instead."
    )
    await text.fill("tell @ben: 1 > 0")
    await press(page, "Save")
    await expect(mine).to_contain_text("tell @ben: 1 > 0(edited)")
    await press(mine, "More actions")
    await choose(page, "Delete message")
    question = page.get_by_role("dialog", name="Delete message")
    await press(question, "Cancel")
    await expect(mine).to_be_visible()
    await press(mine, "More actions")
    await choose(page, "Delete message")
    await press(question, "Delete")
    await expect(mine).to_have_count(0)
    await press(page.get_by_role("listitem", name="Ben Roy"), "More actions")
    await expect(page.get_by_role("menuitem")).to_have_count(3)


async def test_a_permalink_and_its_preview_open_the_thread_that_they_name(
    slack: Sandbox, open_tab
) -> None:
    ann = slack.person("ann")
    parent = ann.post("help", "the question")
    reply = ann.post("help", "the reply", thread_ts=parent.ts)
    ann.post("help", slack.workspace.permalink(parent.channel_id, reply.ts, parent.ts))
    tab = await open_tab(slack)
    linked = message(tab, "Ann Lee").last
    await expect(linked.locator(".attachment")).to_contain_text("the reply")
    for link in (
        linked.get_by_role("link", name="pocket.slack.com"),
        linked.get_by_role("link", name="View message"),
    ):
        await link.click()
        thread = tab.page.get_by_role("complementary", name="Thread")
        await expect(thread.get_by_role("listitem").last).to_contain_text("the reply")
        await thread.get_by_role("link", name="Close the thread").click()


async def test_a_command_that_the_app_does_not_have_is_refused_in_a_notice_until_the_next_action(
    slack: Sandbox, open_tab
) -> None:
    tab = await open_tab(slack)
    await say(tab, "/nonsense")
    await expect(tab.page.get_by_role("alert")).to_contain_text(
        "/nonsense is not a command of the manifest"
    )
    await expect(text_box(tab.page, "Message to help")).to_have_value("/nonsense")
    await say(tab, "hello")
    await expect(tab.page.get_by_text("is not a command")).to_have_count(0)
    tab.trouble.clear()  # the browser logs each answer with status 400


async def test_a_command_in_a_thread_is_refused_as_in_slack(slack: Sandbox, open_tab) -> None:
    parent = slack.person("ann").post("help", "a question")
    tab = await open_tab(slack, f"as=ann&channel={parent.channel_id}&thread={parent.ts}")
    await text_box(tab.page, "Reply in the thread").fill("/echo hi")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("alert")).to_contain_text("/echo is not supported in threads")


async def test_an_invited_bot_is_in_the_channel(slack: Sandbox, open_tab) -> None:
    tab = await open_tab(slack, f"as=ann&channel={slack.workspace.channel('secret').id}")
    await text_box(tab.page, "Message to secret").fill("/invite @echo")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("main")).to_contain_text("2 members")
    await expect(tab.page.get_by_role("alert")).to_contain_text("@echo is in #secret now.")
    assert slack.workspace.bot.id in slack.workspace.channel("secret").members
    await text_box(tab.page, "Message to secret").fill("/invite")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("alert")).to_contain_text("Say whom: /invite @name")


async def test_buttons_and_feedback_reach_the_app(slack: Sandbox, app: AsyncApp, open_tab) -> None:
    choice = {"type": "plain_text", "text": "Good"}, {"type": "plain_text", "text": "Bad"}
    feedback = {
        "type": "feedback_buttons",
        "action_id": "feedback",
        "positive_button": {"text": choice[0], "value": "up"},
        "negative_button": {"text": choice[1], "value": "down"},
    }
    confirm = {"title": choice[0], "text": choice[1], "confirm": choice[0], "deny": choice[1]}
    button = {
        "type": "button",
        "action_id": "go",
        "text": {"type": "plain_text", "text": "Go"},
        "confirm": confirm,
    }

    @app.action("feedback")
    async def on_feedback(ack: Any, body: Any, respond: Any) -> None:
        await ack()
        await respond(f"you said {body['actions'][0]['value']}")

    @app.action("go")
    async def on_go(ack: Any, respond: Any) -> None:
        await ack()
        await respond("gone")

    tab = await open_tab(slack)
    blocks = [
        {"type": "context_actions", "elements": [feedback]},
        {"type": "actions", "elements": [button]},
    ]
    await app.client.chat_postMessage(
        channel=slack.workspace.channel("help").id, text="x", blocks=blocks
    )
    await press(tab.page, "Bad")
    await expect(message(tab, "echo").get_by_text("you said down")).to_be_visible()
    await expect(tab.page.get_by_role("button", name="Bad")).to_have_attribute(
        "aria-pressed", "true"
    )
    await tab.page.get_by_role("button", name="Go", exact=True).click()
    await expect(message(tab, "echo").get_by_text("gone")).to_have_count(0)
    await press(tab.page.get_by_role("dialog", name="Good"), "Good")
    await expect(message(tab, "echo").get_by_text("gone")).to_be_visible()


async def test_a_long_channel_shows_its_end_first_and_can_be_read_to_its_beginning(
    slack: Sandbox, open_tab
) -> None:
    ann = slack.person("ann")
    for number in range(300):
        ann.post("help", f"message {number}.")
    page = (await open_tab(slack)).page
    channel = page.get_by_role("list", name="Messages in help")
    messages = channel.locator("li.message")
    await expect(messages.last).to_contain_text("message 299.")
    await expect(messages.last).to_be_in_viewport()
    for drawn, top in (
        (160, 240),
        (260, 140),
    ):  # scrolling up loads earlier messages, and keeps the place
        await channel.evaluate("list => (list.scrollTop = 0)")
        await expect(messages).to_have_count(drawn)
        await expect(messages.filter(has_text=f"message {top}.")).to_be_in_viewport()
    await page.get_by_role("button", name="earlier messages").press("Enter")
    await expect(messages).to_have_count(300)
    await expect(messages.first).to_contain_text("message 0.")


async def test_a_reply_count_under_the_newest_message_stays_in_view(
    slack: Sandbox, open_tab
) -> None:
    ann = slack.person("ann")
    for number in range(40):
        newest = ann.post("help", f"number {number}")
    tab = await open_tab(slack, "as=ann")
    await expect(message(tab, "number 39")).to_be_in_viewport(ratio=1)
    slack.person("helper").post("help", "an answer", thread_ts=newest.ts)
    await expect(tab.page.get_by_role("button", name="1 reply")).to_be_in_viewport(ratio=1)


def long_thread(slack: Sandbox) -> str:
    """The address of a channel and a thread in it, each with more messages than fit on the screen."""
    ben = slack.person("ben")
    first = ben.post("help", "first")
    for number in range(30):
        ben.post("help", f"number {number}")
        ben.post("help", f"reply {number}", thread_ts=first.ts)
    return f"as=ann&channel={slack.workspace.channel('help').id}&thread={first.ts}"


async def scroll_up(messages: Locator) -> None:
    """Scrolls to the oldest message that is drawn, and waits until the page has noticed."""
    await messages.evaluate(
        """list => new Promise((done) => {
            list.addEventListener("scroll", () => done(), { once: true });
            list.scrollTop = 0;
        })"""
    )


async def test_a_sent_message_scrolls_into_view(slack: Sandbox, app: AsyncApp, open_tab) -> None:
    @app.command("/echo")
    async def on_command(ack: Any) -> None:
        await ack("only for you")

    page = (await open_tab(slack, long_thread(slack))).page
    for title, box, typed, shown in (
        ("Messages in help", "Message to help", "mine", "mine"),
        ("Messages in help", "Message to help", "/echo", "only for you"),
        ("Messages in the thread", "Reply in the thread", "my reply", "my reply"),
    ):
        messages = page.get_by_role("list", name=title)
        await scroll_up(messages)
        await text_box(page, box).fill(typed)
        await page.keyboard.press("Enter")
        await expect(messages.get_by_role("listitem").filter(has_text=shown)).to_be_in_viewport(
            ratio=1
        )


async def test_new_messages_below_are_counted_and_a_button_leads_to_them(
    slack: Sandbox, open_tab
) -> None:
    place = long_thread(slack)
    page = (await open_tab(slack, place)).page
    for title, more in (
        ("Messages in help", {}),
        ("Messages in the thread", {"thread_ts": place.split("=")[-1]}),
    ):
        messages = page.get_by_role("list", name=title)
        await scroll_up(messages)
        for text in ("news", "more news"):
            slack.person("ben").post("help", text, **more)
        button = page.get_by_role("button", name="2 new messages below")
        await expect(button).to_be_visible()
        assert await messages.evaluate("list => list.scrollTop") == 0
        await button.press("Enter")
        await expect(button).to_have_count(0)
        await expect(messages.get_by_role("listitem").last).to_be_in_viewport(ratio=1)
        await expect(messages.get_by_role("listitem").last).to_be_focused()


async def test_a_channel_is_unread_until_the_person_opens_it(slack: Sandbox, open_tab) -> None:
    ann = slack.person("ann")
    ben = slack.person("ben")
    slack.workspace.add_channel("random", [ann.user, ben.user])
    parent = ben.post("random", "before the page was opened")
    page = (await open_tab(slack, "as=ann")).page
    link = page.get_by_role("link", name="random")
    ann.post("random", "my own")
    ben.post("random", "news")
    ben.post("random", "a reply", thread_ts=parent.ts)
    await expect(link).to_contain_text("2 unread")
    await link.click()
    await expect(link).not_to_contain_text("unread")
    await page.get_by_role("link", name="help").click()
    await expect(link).not_to_contain_text("unread")
    await page.get_by_label("Act as").select_option("Ben Roy")
    await expect(link).to_contain_text("1 unread")
