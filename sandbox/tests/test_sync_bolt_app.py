"""Bolt's synchronous App, which has other code for the client and the sockets than the asynchronous one."""

import asyncio
from typing import Any

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

from pocket_slack import Sandbox


def connected(slack: Sandbox) -> SocketModeHandler:
    """Connects an app that answers /echo in the channel; blocks, as an app in a separate process does."""
    app = App(client=WebClient(token=slack.bot_token, base_url=slack.api_url))

    @app.command("/echo")
    def echo(ack: Any, command: Any, say: Any) -> None:
        ack()
        say(command["text"])

    handler = SocketModeHandler(app, slack.app_token)
    handler.connect()
    return handler


async def test_a_synchronous_app_starts_connects_and_answers(slack: Sandbox) -> None:
    handler = await asyncio.to_thread(connected, slack)
    try:
        ann = slack.person("ann")
        assert (await slack.settled(ann.command("help", "/echo", "hello"))).is_acked
        await slack.until(lambda: [message.text for message in ann.messages("help")] == ["hello"])
    finally:
        await asyncio.to_thread(handler.close)
