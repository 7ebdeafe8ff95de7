"""Bolt's synchronous App, whose client and sockets are other code than the asynchronous one's."""

import asyncio
from typing import Any

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

from pocket_slack import Sandbox


def connected(slack: Sandbox) -> SocketModeHandler:
    """An app that answers /echo in the channel; blocks, as it does in a process of its own."""
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
