"""The same job without a log: a Bolt app that asks the model and answers in the thread. The
baseline of `bench.bot`.

Like the bot with a fast model, it posts the two texts and replies to them with the score. It sends
the model the same prompt. The cases in progress when it dies are lost.
"""

import asyncio
import os
import signal
from typing import Any

import openai
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from judge import load_rubric, parse_rating, render_prompt


async def main() -> None:
    """Serves until SIGTERM."""
    client = AsyncWebClient(
        token=os.environ["SLACK_BOT_TOKEN"], base_url=os.environ["SLACK_API_URL"]
    )
    app = AsyncApp(client=client, request_verification_enabled=False)
    model = openai.AsyncOpenAI(api_key="none", http_client=openai.DefaultAioHttpClient())
    rubric = load_rubric("additive-5")

    async def score(channel: str, thread_ts: str, question: str, response: str) -> None:
        answer = await model.chat.completions.create(
            model="stub",
            messages=[{"role": "user", "content": render_prompt(rubric, question, response)}],
        )
        result = parse_rating(answer.choices[0].message.content or "", rubric.scale)
        await client.chat_postMessage(channel=channel, thread_ts=thread_ts, text=f"Score {result}")

    @app.command("/judge")
    async def judge(ack: Any, body: dict[str, Any]) -> None:
        await ack()
        question, _, response = body["text"].partition(" | ")
        parent = await client.chat_postMessage(channel=body["channel_id"], text=body["text"])
        await score(body["channel_id"], str(parent["ts"]), question, response)

    @app.shortcut("score_reply")
    async def shortcut(ack: Any, body: dict[str, Any]) -> None:
        await ack()
        message = body["message"]
        channel = body["channel"]["id"]
        thread = await client.conversations_replies(
            channel=channel, ts=message["thread_ts"], limit=1
        )
        await score(channel, message["thread_ts"], thread["messages"][0]["text"], message["text"])

    handler = AsyncSocketModeHandler(app, os.environ["SLACK_APP_TOKEN"])
    await handler.connect_async()  # type: ignore[no-untyped-call]
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    await stopping.wait()
    await handler.close_async()  # type: ignore[no-untyped-call]
    await model.close()


if __name__ == "__main__":
    asyncio.run(main())
