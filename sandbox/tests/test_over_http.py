"""The Web API and response_urls, as the Slack SDK uses them."""

from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from pocket_slack import ManualClock, Sandbox, Workspace
from pocket_slack.grants import RESPONSE_URL_USES


@pytest.fixture
async def timed(workspace: Workspace) -> Any:
    """A server whose clock is moved by the test."""
    async with Sandbox(workspace) as running:
        yield running


def response_url(slack: Sandbox, **more: Any) -> AsyncWebhookClient:
    ann = slack.workspace.user("ann")
    channel = slack.workspace.channel("random")
    return AsyncWebhookClient(
        slack.workspace.grants.new_response_url(ann.id, channel.id, "commands", **more)
    )


async def test_the_sdk_reads_errors_and_scopes(slack: Sandbox, client: AsyncWebClient) -> None:
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel="C0", text="x")
    assert caught.value.response.data == {"ok": False, "error": "channel_not_found"}
    assert "chat:write" in caught.value.response.headers["x-oauth-scopes"].split(",")


async def test_arguments_are_read_from_the_query_a_form_or_json(slack: Sandbox) -> None:
    ann = slack.workspace.user("ann")
    header = {"Authorization": f"Bearer {slack.bot_token}"}
    url = f"{slack.api_url}users.info"
    async with aiohttp.ClientSession() as http:
        for response in (
            await http.get(url, params={"user": ann.id}, headers=header),
            await http.post(url, data={"user": ann.id, "token": slack.bot_token}),
            await http.post(url, json={"user": ann.id}, headers=header),
        ):
            assert (await response.json())["user"]["name"] == "ann"
        in_json = await http.post(url, json={"user": ann.id, "token": slack.bot_token})
        assert (await in_json.json())["error"] == "not_authed"
        broken = await http.post(
            url, data="{", headers={**header, "Content-Type": "application/json"}
        )
        assert (await broken.json())["error"] == "invalid_json"


async def test_a_body_that_is_not_json_is_refused_and_recorded(slack: Sandbox) -> None:
    headers = {
        "Authorization": f"Bearer {slack.bot_token}",
        "Content-Type": "application/json;charset=utf-8",
    }
    url = f"{slack.api_url}auth.test"
    async with aiohttp.ClientSession(headers=headers) as http:
        assert (await (await http.post(url, data="{")).json())["error"] == "invalid_json"
        assert (await (await http.post(url, data="[]")).json())["error"] == "json_not_object"
        assert (await (await http.post(url, data="")).json())["ok"]
    answers = [entry.data["answer"].get("error") for entry in slack.workspace.journal.of("call")]
    assert answers == ["invalid_json", "json_not_object", None]


async def test_blocks_and_metadata_can_be_json_strings_in_a_form(
    slack: Sandbox, client: AsyncWebClient
) -> None:
    form = {
        "channel": slack.workspace.channel("help").id,
        "blocks": '[{"type": "divider"}]',
        "metadata": '{"event_type": "case", "event_payload": {"id": 1}}',
    }
    answer = await client.api_call("chat.postMessage", data=form)
    assert answer["message"]["blocks"][0]["type"] == "divider"
    assert answer["message"]["metadata"]["event_payload"] == {"id": 1}


async def test_the_journal_keeps_calls_and_answers_but_no_tokens(
    slack: Sandbox, client: AsyncWebClient
) -> None:
    await client.api_call("auth.test", data={"token": slack.bot_token})
    [entry] = slack.workspace.journal.of("call")
    assert entry.data["method"] == "auth.test"
    assert entry.data["answer"]["ok"] is True
    assert slack.bot_token not in str(entry.to_json())


async def test_a_rate_limit_is_a_429_that_the_sdk_can_wait_out(
    slack: Sandbox, client: AsyncWebClient
) -> None:
    slack.fail("auth.test", retry_after_s=0)
    client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=1))
    assert (await client.auth_test())["ok"]
    assert [entry.data["status"] for entry in slack.workspace.journal.of("call")] == [429, 200]


async def test_a_post_can_be_accepted_and_its_answer_lost(
    slack: Sandbox, client: AsyncWebClient
) -> None:
    channel = slack.workspace.channel("help").id
    slack.fail("chat.postMessage", status=500, is_applied=True)
    slack.fail("chat.postMessage", drop=True, is_applied=True)
    client.retry_handlers.clear()
    with pytest.raises(SlackApiError):
        await client.chat_postMessage(channel=channel, text="one")
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=channel, text="two")
    await client.chat_postMessage(channel=channel, text="three")
    assert [m.text for m in slack.person("ann").messages("help")] == ["one", "two", "three"]


async def test_a_response_url_posts_to_one_user_by_default(slack: Sandbox) -> None:
    ann = slack.person("ann")
    ben = slack.person("ben")
    hook = response_url(slack)
    parent = ben.post("random", "why?")
    await hook.send(text="you")
    await hook.send(text="all", response_type="in_channel")
    await hook.send_dict({"text": "thread", "response_type": "in_channel", "thread_ts": parent.ts})
    assert [message.text for message in ann.ephemerals("random")] == ["you"]
    assert [message.text for message in ben.messages("random")] == ["why?", "all"]
    assert [message.text for message in ben.thread("random", parent.ts)] == ["why?", "thread"]


async def test_a_response_url_works_five_times(slack: Sandbox) -> None:
    hook = response_url(slack)
    assert [(await hook.send(text="x")).status_code for _ in range(RESPONSE_URL_USES)] == [200] * 5
    sixth = await hook.send(text="x")
    assert (sixth.status_code, sixth.body) == (404, '{"ok": false, "error": "used_url"}')


async def test_a_response_url_works_for_thirty_minutes(timed: Sandbox, clock: ManualClock) -> None:
    hook = response_url(timed)
    clock.advance(30 * 60 - 1)
    assert (await hook.send(text="x")).status_code == 200
    clock.advance(2)
    assert (await hook.send(text="x")).body == '{"ok": false, "error": "expired_url"}'


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"text": ""}, "no_text"),
        ([], "invalid_payload"),
        ({"blocks": [{"type": "x"}]}, "invalid_blocks"),
    ],
)
async def test_an_invalid_body_does_not_use_up_a_response_url(
    slack: Sandbox, body: Any, error: str
) -> None:
    hook = response_url(slack)
    for _ in range(6):
        refused = await hook.send_dict(body)
        assert refused.status_code == 400
        assert error in refused.body
    assert (await hook.send(text="still good")).status_code == 200


async def test_a_response_url_replaces_and_deletes_the_message_that_was_clicked(
    slack: Sandbox, client: AsyncWebClient
) -> None:
    ann = slack.person("ann")
    channel = slack.workspace.channel("help").id
    await client.chat_postEphemeral(channel=channel, user=ann.id, text="first")
    [ephemeral] = ann.ephemerals("help")
    hook = response_url(slack, source=ephemeral)
    await hook.send(text="second", replace_original=True)
    assert [message.text for message in ann.ephemerals("help")] == ["second"]
    assert ephemeral.edited is None
    await hook.send(delete_original=True)
    assert ann.ephemerals("help") == []
