"""The main flows, through a real Bolt app over real sockets."""

from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from pocket_slack import Sandbox

MODAL: dict[str, Any] = {
    "type": "modal",
    "callback_id": "ask",
    "title": {"type": "plain_text", "text": "What to say"},
    "submit": {"type": "plain_text", "text": "Say it"},
    "private_metadata": "where",
    "blocks": [
        {
            "type": "input",
            "block_id": "words",
            "label": {"type": "plain_text", "text": "Words"},
            "element": {"type": "plain_text_input", "action_id": "typed", "max_length": 10},
        }
    ],
}


async def test_a_message_shortcut_is_answered_in_the_thread(slack: Sandbox, app: AsyncApp) -> None:
    ann = slack.person("ann")
    question = ann.post("help", "What is <b> & why?")
    answer = slack.person("helper").post("help", "A tag.", thread_ts=question.ts)

    @app.shortcut("echo_this")
    async def echo(ack: Any, shortcut: Any, client: AsyncWebClient) -> None:
        await ack()
        said = shortcut["message"]["text"]
        await client.chat_postMessage(
            channel=shortcut["channel"]["id"],
            thread_ts=shortcut["message"]["thread_ts"],
            text=f"again: {said}",
        )

    ann.shortcut("echo_this", answer)
    thread = await slack.until(lambda: [t := ann.thread("help", question.ts)] and len(t) == 3 and t)
    assert thread
    assert [message.text for message in thread] == [
        "What is &lt;b&gt; &amp; why?",
        "A tag.",
        "again: A tag.",
    ]
    assert thread[2].author is slack.workspace.bot


async def test_a_command_opens_a_modal_whose_submission_is_answered_by_response_url(
    slack: Sandbox, app: AsyncApp
) -> None:
    ann = slack.person("ann")
    where: dict[str, str] = {}

    @app.command("/echo")
    async def ask(ack: Any, body: Any, client: AsyncWebClient) -> None:
        await ack()
        where["url"] = body["response_url"]
        await client.views_open(trigger_id=body["trigger_id"], view=MODAL)

    @app.view("ask")
    async def say(ack: Any, view: Any, body: Any) -> None:
        await ack()
        typed = view["state"]["values"]["words"]["typed"]["value"]
        response = await AsyncWebhookClient(where["url"]).send(
            text=f"{body['user']['name']}: {typed}"
        )
        assert response.status_code == 200

    ann.command("help", "/echo")
    await slack.until(lambda: ann.view)
    submission = ann.submit({"typed": "hello"})
    await slack.until(lambda: ann.ephemerals("help"))
    assert [message.text for message in ann.ephemerals("help")] == ["ann: hello"]
    assert slack.person("ben").ephemerals("help") == []
    assert (await slack.settled(submission)).is_acked
    assert ann.view is None


async def test_a_click_changes_the_message_it_was_made_in(slack: Sandbox, app: AsyncApp) -> None:
    button = {
        "type": "button",
        "action_id": "more",
        "text": {"type": "plain_text", "text": "More"},
        "value": "7",
    }

    @app.action("more")
    async def more(ack: Any, action: Any, body: Any, client: AsyncWebClient) -> None:
        await ack()
        container = body["container"]
        await client.chat_update(
            channel=container["channel_id"],
            ts=container["message_ts"],
            text=f"more of {action['value']}",
        )

    channel = slack.workspace.channel("help").id
    await app.client.chat_postMessage(
        channel=channel, text="some", blocks=[{"type": "actions", "elements": [button]}]
    )
    ann = slack.person("ann")
    message = ann.messages("help")[0]
    ann.click(message, "more")
    await slack.until(lambda: message.text == "more of 7")
    assert [block["type"] for block in message.blocks] == ["rich_text"]
    assert message.edited is not None
