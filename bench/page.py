"""How long Chromium runs scripts to show a channel of 1,000 messages: `python -m bench.page`.

Half of the messages are typed, half are the app's with blocks. Chromium itself reports how long
scripts ran from the start of loading until the newest message was shown (DevTools metric
ScriptDuration). Printed is the median of several loads.
"""

import asyncio
import shutil
from statistics import median

from playwright.async_api import Browser, async_playwright

from pocket_slack import Limits, Sandbox, Workspace

MESSAGES = 1_000
LOADS = 7
BLOCKS = [
    {
        "type": "section",
        "text": {
            "type": "mrkdwn",
            "text": "*Score 4 of 5*  ●●●●○ with `code` and <https://example.com|a link>",
        },
    },
    {"type": "context", "elements": [{"type": "mrkdwn", "text": "additive-5 · case 1"}]},
    {
        "type": "actions",
        "elements": [
            {"type": "button", "action_id": "a", "text": {"type": "plain_text", "text": "Why?"}}
        ],
    },
]


def long_channel() -> Workspace:
    workspace = Workspace({}, limits=Limits.off())
    ann = workspace.add_user("ann")
    helper = workspace.add_bot("helper")
    workspace.add_channel("help", [ann, helper])
    return workspace


async def measured(browser: Browser, slack: Sandbox) -> dict[str, float]:
    """Seconds by metric for one load in a new profile."""
    async with await browser.new_context() as context:
        page = await context.new_page()
        devtools = await context.new_cdp_session(page)
        await devtools.send("Performance.enable")
        await page.goto(slack.url)
        await page.get_by_text(f"message {MESSAGES - 2}").wait_for()
        metrics = await devtools.send("Performance.getMetrics")
        return {metric["name"]: metric["value"] for metric in metrics["metrics"]}


async def main() -> None:
    async with Sandbox(long_channel()) as slack, async_playwright() as playwright:
        ann = slack.person("ann")
        helper = slack.person("helper")
        for number in range(0, MESSAGES, 2):
            ann.post("help", f"message {number}")
            helper.post("help", "x", blocks=BLOCKS)
        path = (
            shutil.which("chromium-headless-shell")
            or shutil.which("chromium")
            or shutil.which("google-chrome")
        )
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        loads = [await measured(browser, slack) for _ in range(LOADS)]
        await browser.close()
    for name in ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration", "TaskDuration"):
        print(f"{name:<20} {median(load[name] for load in loads) * 1000:6.0f} ms")


if __name__ == "__main__":
    asyncio.run(main())
