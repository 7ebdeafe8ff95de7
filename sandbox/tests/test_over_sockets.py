"""Socket Mode as an app without an SDK sees it, and faults of the sockets."""

import json
from collections.abc import AsyncIterator

import aiohttp
import pytest
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from pocket_slack import ManualClock, Sandbox, Workspace


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def new_url(slack: Sandbox) -> str:
    answer = await AsyncWebClient(base_url=slack.api_url).apps_connections_open(
        app_token=slack.app_token
    )
    return str(answer["url"])


async def test_a_connection_starts_with_hello(slack: Sandbox, http: aiohttp.ClientSession) -> None:
    for number in (1, 2):
        socket = await http.ws_connect(await new_url(slack))
        hello = await socket.receive_json()
        assert hello["type"] == "hello"
        assert hello["num_connections"] == number
        assert hello["connection_info"] == {"app_id": slack.workspace.app_id}
        assert hello["debug_info"]["approximate_connection_time"] > 0


async def test_a_ticket_is_valid_for_one_connection(
    slack: Sandbox, http: aiohttp.ClientSession
) -> None:
    url = await new_url(slack)
    await http.ws_connect(url)
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await http.ws_connect(url)


async def test_pings_are_answered_and_invalid_acks_are_only_recorded(
    slack: Sandbox, http: aiohttp.ClientSession
) -> None:
    socket = await http.ws_connect(await new_url(slack), autoping=False)
    await socket.receive_json()
    for nonsense in ("", "[]", "{}", '{"envelope_id": "unknown"}'):
        await socket.send_str(nonsense)
    await socket.ping(b"there?")
    answer = await socket.receive()
    assert (answer.type, answer.data) == (aiohttp.WSMsgType.PONG, b"there?")
    ignored = [entry.data["ignored"] for entry in slack.workspace.journal.of("ack")]
    assert ignored == ["not an ack", "not an ack", "not an ack", "unknown"]


async def test_an_eleventh_connection_is_closed(
    slack: Sandbox, http: aiohttp.ClientSession
) -> None:
    kept = [await http.ws_connect(await new_url(slack)) for _ in range(10)]
    eleventh = await http.ws_connect(await new_url(slack))
    assert (await eleventh.receive_json())["reason"] == "too_many_websockets"
    assert (await eleventh.receive()).type is aiohttp.WSMsgType.CLOSE
    assert len(slack.sockets.open) == len(kept)


async def test_a_goodbye_makes_the_sdk_connect_again(slack: Sandbox, app: AsyncApp) -> None:
    [old] = slack.sockets.open
    slack.sockets.say_goodbye("warning")
    await slack.until(lambda: slack.sockets.open and slack.sockets.open[0] is not old)
    assert len(slack.sockets.open) == 1


async def test_a_silent_connection_stays_open_and_answers_nothing(
    workspace: Workspace, clock: ManualClock, http: aiohttp.ClientSession
) -> None:
    async with Sandbox(workspace) as slack:
        socket = await http.ws_connect(await new_url(slack), autoping=False)
        await socket.receive_json()
        slack.sockets.silence()
        delivery = slack.person("ann").command("help", "/echo")
        await socket.send_str(json.dumps({"envelope_id": delivery.envelope_id}))
        await socket.ping()
        with pytest.raises(TimeoutError):
            await socket.receive(timeout=0.05)
        clock.advance(3)
        assert delivery.failure == "operation_timeout"
        assert not socket.closed


async def test_a_wait_that_times_out_lists_what_happened_instead(slack: Sandbox) -> None:
    slack.person("ann").post("help", "hello")
    with pytest.raises(TimeoutError, match=r"nothing true within 0.01 s[^$]*message"):
        await slack.until(lambda: False, timeout_s=0.01)
