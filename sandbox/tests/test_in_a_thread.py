"""The fixture of `pocket_slack.testing`; the README's example is the test without an event loop."""

import pytest
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from pocket_slack import Workspace
from pocket_slack.testing import Slack, slack
from sandbox.tests.conftest import MANIFEST, UNHURRIED, populated

__all__ = ["slack"]


@pytest.fixture
def slack_workspace() -> Workspace:
    return populated(Workspace(MANIFEST, limits=UNHURRIED))


async def test_in_an_event_loop_what_waits_is_awaited(slack: Slack) -> None:
    app = AsyncApp(client=AsyncWebClient(slack.bot_token, base_url=slack.api_url))

    @app.command("/echo")
    async def echo(ack, command) -> None:
        await ack(f"You typed {command['text']!r}.")

    slack.connect(app)
    ann = slack.person("ann")
    assert (await slack.settled(ann.command("help", "/echo", "hello"))).is_acked
    assert await slack.until(lambda: [each.text for each in ann.ephemerals("help")]) == [
        "You typed 'hello'."
    ]
    assert slack.workspace.user("ann").id == ann.id
