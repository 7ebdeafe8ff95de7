"""How the page shows what others do in a channel: streams, webhooks, reactions, notices."""

import re
from typing import Any

from playwright.async_api import Locator, expect

from pocket_slack import Message, Sandbox
from sandbox.tests.chromium import Tab, choose, press, text_box


def item(tab: Tab, message: Message) -> Locator:
    return tab.page.locator(f'.message[data-ts="{message.ts}"]').first


async def test_a_stream_is_shown_to_its_reader_first(slack: Sandbox, open_tab: Any) -> None:
    question = slack.person("ann").post("help", "why?")
    helper = slack.person("helper")
    place = f"channel={slack.workspace.channel('help').id}&thread={question.ts}"
    ann = await open_tab(slack, f"as=ann&{place}")
    ben = await open_tab(slack, f"as=ben&{place}")
    answer = helper.stream("help", "**Beca", question.ts)
    helper.append(answer, "use**")
    await expect(item(ann, answer).locator("strong").filter(has_text="Because")).to_be_visible()
    await expect(item(ben, answer)).to_contain_text(re.compile(r"\*\*Beca\s*\(writing\)"))
    helper.stop(answer)
    await expect(item(ben, answer).locator("strong").filter(has_text="Because")).to_be_visible()
    await expect(item(ben, answer)).not_to_contain_text("(writing)")


async def test_webhooks_reactions_and_notices_are_shown(slack: Sandbox, open_tab: Any) -> None:
    slack.workspace.add_webhook("github")
    tab = await open_tab(slack, "as=ann")
    pushed = slack.person("github").post("help", "Pushing is the answer")
    await expect(item(tab, pushed)).to_contain_text("github")
    slack.person("ben").react(pushed, "three")
    await expect(item(tab, pushed).locator(".reaction")).to_have_text("3️⃣ 1")
    await item(tab, pushed).locator(".reaction").click()
    await expect(item(tab, pushed).locator(".reaction")).to_have_text("3️⃣ 2")
    await expect(item(tab, pushed).locator(".reaction")).to_have_attribute("aria-pressed", "true")
    await item(tab, pushed).locator(".reaction").click()
    await expect(item(tab, pushed).locator(".reaction")).to_have_text("3️⃣ 1")
    slack.person("ben").leave("help")
    notice = slack.person("ann").messages("help")[-1]
    await expect(item(tab, notice)).to_contain_text("has left the channel")
    await expect(item(tab, notice).get_by_role("button")).to_have_count(0)


async def test_a_person_can_react_from_the_menu_and_by_typing(
    slack: Sandbox, open_tab: Any
) -> None:
    question = slack.person("ann").post("help", "why?")
    answer = slack.person("helper").post("help", "Because.", thread_ts=question.ts)
    place = f"channel={slack.workspace.channel('help').id}&thread={question.ts}"
    tab = await open_tab(slack, f"as=ann&{place}")
    await item(tab, question).hover()
    await press(item(tab, question), "More actions")
    await choose(tab.page, "Add reaction")
    await press(tab.page.get_by_role("dialog"), ":tada:")
    await expect(item(tab, question).locator(".reaction")).to_have_text("🎉 1")
    await press(item(tab, question), "More actions")
    await choose(tab.page, "Add reaction")
    await tab.page.keyboard.type(":Thumbsu")
    await expect(tab.page.get_by_role("dialog").get_by_role("listitem")).to_have_text(["👍 :+1:"])
    await tab.page.keyboard.press("Enter")
    await expect(item(tab, question).locator(".reaction").last).to_have_text("👍 1")
    await expect(item(tab, question).get_by_role("button", name="More actions")).to_be_focused()
    box = text_box(tab.page, "Reply in the thread")
    await box.fill("+:mag:")
    await box.press("Enter")
    reaction = tab.page.locator(f'.thread .message[data-ts="{answer.ts}"] .reaction')
    await expect(reaction).to_have_text("🔍 1")
    assert answer.reactions == {"mag": [slack.person("ann").id]}
