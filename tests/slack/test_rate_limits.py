"""Slack's rate limits, of each method and of each channel's posts."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError
from structlog.testing import capture_logs

from bot.slack.client import SlackClient, web_client
from bot.slack.manifest import load_manifest
from pocket_slack import Sandbox, Workspace
from tests.patience import ONLY_A_HANG_S, UNHURRIED

READERS = 20


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    workspace = Workspace(load_manifest(), limits=UNHURRIED)
    for name in ("one", "another"):
        workspace.add_channel(name, [workspace.add_user(f"in {name}"), workspace.bot])
    async with Sandbox(workspace) as running:
        yield running


@pytest.fixture
async def client(slack: Sandbox) -> AsyncIterator[SlackClient]:
    async with web_client(SecretStr(slack.bot_token), slack.api_url) as opened:
        yield opened


def made(slack: Sandbox, method: str) -> list[int]:
    """The HTTP statuses of the calls of a method."""
    calls = [entry.data for entry in slack.workspace.journal.of("call")]
    return [call["status"] for call in calls if call["method"] == method]


async def told_to_wait(call: Coroutine[Any, Any, object]) -> asyncio.Task[object]:
    """A call that is under way, once Slack has told it to wait."""
    with capture_logs() as logged:
        task = asyncio.create_task(call)
        async with asyncio.timeout(ONLY_A_HANG_S):
            while not logged:  # noqa: ASYNC110 - the client says it nowhere else
                await asyncio.sleep(0)
    assert (logged[0]["event"], logged[0]["wait_s"]) == ("slack_limits", 8.0)
    return task


async def test_where_one_reader_is_told_to_wait_the_others_wait_without_asking(
    slack: Sandbox, client: SlackClient, let_pass: Callable[[float], None]
) -> None:
    channel = slack.workspace.channel("one").id
    slack.fail("conversations.history", retry_after_s=8, times=READERS)
    first = await told_to_wait(client.conversations_history(channel=channel))
    others = [client.conversations_history(channel=channel) for _ in range(READERS - 1)]
    readers = asyncio.gather(first, *others)
    for _ in range(READERS):
        await client.conversations_info(channel=channel)  # this method has a limit of its own
    slack.workspace.faults.clear()
    let_pass(9)
    await readers
    assert made(slack, "conversations.history") == [429] + [200] * READERS


async def test_a_channel_in_which_no_post_is_taken_holds_up_no_other(
    slack: Sandbox, client: SlackClient, let_pass: Callable[[float], None]
) -> None:
    limited, free = (slack.workspace.channel(name).id for name in ("one", "another"))
    slack.fail("chat.postMessage", retry_after_s=8)
    first = await told_to_wait(client.chat_postMessage(channel=limited, text="Hello"))
    await client.chat_postMessage(channel=free, text="Hello")
    assert not first.done()
    let_pass(9)
    await first
    assert made(slack, "chat.postMessage") == [429, 200, 200]


async def test_a_call_waits_twice_and_no_longer(slack: Sandbox, client: SlackClient) -> None:
    slack.fail("auth.test", retry_after_s=0, times=4)
    with pytest.raises(SlackApiError, match="ratelimited"):
        await client.auth_test()
    assert made(slack, "auth.test") == [429] * 3
