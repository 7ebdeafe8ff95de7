"""Slack's rate limits, of each method and of each channel's posts."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable

import pytest
from aiohttp import web
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError
from structlog.testing import capture_logs

from bot.slack.client import web_client

READERS = 20


class LimitedSlack:
    """Refuses what is in `limited` for as long as it says, from the first refusal on, or for ever."""

    def __init__(self) -> None:
        self.limited: set[tuple[str, str]] = set()
        self.is_for_ever = False
        self.retry_after_s = 8
        self.refused = Counter[str]()
        self.taken = Counter[str]()
        self.refuses = asyncio.Event()
        self._until = 0.0

    async def answer(self, request: web.BaseRequest) -> web.Response:
        method = request.path.rpartition("/")[2]
        body = await request.json() if request.method == "POST" else request.query
        if (method, body["channel"]) in self.limited:
            self._until = self._until or time.monotonic() + self.retry_after_s
            if self.is_for_ever or time.monotonic() < self._until:
                self.refused[method] += 1
                self.refuses.set()
                headers = {"Retry-After": str(self.retry_after_s)}
                return web.json_response(
                    {"ok": False, "error": "ratelimited"}, status=429, headers=headers
                )
        self.taken[method] += 1
        return web.json_response({"ok": True, "messages": []})


@pytest.fixture
async def slack() -> AsyncIterator[tuple[LimitedSlack, str]]:
    limited = LimitedSlack()
    runner = web.ServerRunner(web.Server(limited.answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield limited, f"http://127.0.0.1:{runner.addresses[0][1]}/api/"
    await runner.cleanup()


async def test_where_one_reader_is_told_to_wait_the_others_wait_without_asking(
    slack: tuple[LimitedSlack, str], let_pass: Callable[[float], None]
) -> None:
    limited, url = slack
    limited.limited = {("conversations.replies", "C1")}
    with capture_logs() as logged:
        async with web_client(SecretStr("xoxb-1"), url) as client:
            first = asyncio.create_task(client.conversations_replies(channel="C1", ts="1.2"))
            await limited.refuses.wait()
            await client.conversations_history(channel="C1")  # this method has a limit of its own
            others = [
                client.conversations_replies(channel="C1", ts="1.2") for _ in range(READERS - 1)
            ]
            readers = asyncio.gather(first, *others)
            await client.conversations_history(channel="C1")
            assert not first.done()
            let_pass(9)
            await readers
    assert limited.refused == {"conversations.replies": 1}
    assert limited.taken["conversations.replies"] == READERS
    said = {"event": "slack_limits", "method": "conversations.replies", "wait_s": 8.0}
    assert [each for each in logged if said.items() <= each.items()]


async def test_a_channel_in_which_no_post_is_taken_holds_up_no_other(
    slack: tuple[LimitedSlack, str], let_pass: Callable[[float], None]
) -> None:
    limited, url = slack
    limited.limited = {("chat.postMessage", "C1")}
    async with web_client(SecretStr("xoxb-1"), url) as client:
        first = asyncio.create_task(client.chat_postMessage(channel="C1", text="Hello"))
        await limited.refuses.wait()
        await client.chat_postMessage(channel="C2", text="Hello")
        assert not first.done()
        let_pass(9)
        await first
    assert (limited.refused.total(), limited.taken.total()) == (1, 2)


async def test_a_call_waits_twice_and_no_longer(slack: tuple[LimitedSlack, str]) -> None:
    limited, url = slack
    limited.limited = {("conversations.replies", "C1")}
    limited.is_for_ever = True
    limited.retry_after_s = 0
    async with web_client(SecretStr("xoxb-1"), url) as client:
        with pytest.raises(SlackApiError, match="ratelimited"):
            await client.conversations_replies(channel="C1", ts="1.2")
    assert limited.refused == {"conversations.replies": 3}
