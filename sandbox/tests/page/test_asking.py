"""The app as an assistant or agent, in the page."""

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, expect

from pocket_slack import Sandbox, Workspace
from sandbox.tests.chromium import press
from sandbox.tests.conftest import UNHURRIED, connected_app, populated
from sandbox.tests.test_assistant import AGENT, MANIFEST, PROMPTS


def told(slack: Sandbox, key: str) -> list[str]:
    events = [entry.data["payload"]["event"] for entry in slack.workspace.journal.of("envelope")]
    return [event["type"] for event in events if key in event]


async def test_a_person_asks_beside_a_channel_and_goes_to_another(open_tab) -> None:
    async with (
        Sandbox(populated(Workspace(MANIFEST, limits=UNHURRIED))) as slack,
        connected_app(slack) as app,
    ):
        page: Page = (await open_tab(slack)).page
        await press(page, "Ask Bolt AI Agent")
        await slack.until(lambda: told(slack, "assistant_thread"))
        ann = slack.person("ann")
        place = {"channel_id": ann.im, "thread_ts": ann.messages(ann.im)[0].ts}
        await app.client.assistant_threads_setSuggestedPrompts(
            **place, prompts=PROMPTS, title="Start with this:"
        )
        thread = page.get_by_role("complementary", name="Thread")
        await press(thread.get_by_role("region", name="Start with this:"), "Think")
        await expect(thread.get_by_role("listitem", name="Ann")).to_contain_text(
            PROMPTS[0]["message"]
        )
        await app.client.assistant_threads_setTitle(**place, title="Deep thoughts")
        await app.client.assistant_threads_setStatus(
            **place, status="is thinking...", loading_messages=["Polishing…"]
        )
        await expect(thread.get_by_role("heading", name="Deep thoughts")).to_be_visible()
        await expect(thread.locator(".working")).to_have_text(
            "Bolt AI Agent is thinking... Polishing…"
        )
        assert (await Axe().run(page)).response["violations"] == []
        await page.get_by_role("link", name="random").click()
        await slack.until(
            lambda: "assistant_thread_context_changed" in told(slack, "assistant_thread")
        )
        await app.client.chat_postMessage(
            channel=ann.im, thread_ts=place["thread_ts"], text="Done."
        )
        await expect(thread.get_by_text("Done.")).to_be_visible()
        await expect(thread.get_by_role("status")).to_have_count(0)


async def test_an_agents_prompts_and_status_are_in_its_messages_tab(open_tab) -> None:
    async with (
        Sandbox(populated(Workspace(AGENT, limits=UNHURRIED))) as slack,
        connected_app(slack) as app,
    ):
        ann = slack.person("ann")
        page: Page = (await open_tab(slack, f"as=ann&channel={ann.im}")).page
        await press(page.get_by_role("region", name="Suggested prompts"), "Think")
        ts = (await slack.until(lambda: ann.messages(ann.im)))[0].ts
        assert told(slack, "tab") == ["app_home_opened"]
        await app.client.assistant_threads_setStatus(
            channel_id=ann.im, thread_ts=ts, status="is busy..."
        )
        await page.get_by_role("link", name="is busy...").click()
        await expect(
            page.get_by_role("complementary", name="Thread").get_by_role("status")
        ).to_be_visible()
