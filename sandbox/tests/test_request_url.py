"""Payloads over HTTP, as an app gets them in production."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from pocket_slack import Limits, ManualClock, Sandbox, Workspace
from pocket_slack.request_url import signed
from sandbox.tests.conftest import MANIFEST, UNHURRIED, populated


class Listener:
    """An app that answers as the test says, and keeps what it gets."""

    def __init__(self) -> None:
        self.answers: list[web.Response] = []
        self.got: list[tuple[dict[str, str], str]] = []

    async def take(self, request: web.Request) -> web.Response:
        self.got.append((dict(request.headers), await request.text()))
        return self.answers.pop(0)


@pytest.fixture
async def listener() -> AsyncIterator[tuple[Listener, str]]:
    listener = Listener()
    app = web.Application()
    app.add_routes([web.post("/slack/events", listener.take)])
    async with TestServer(app) as server:
        yield listener, str(server.make_url("/slack/events"))


def test_a_signature_is_the_one_in_slacks_documentation() -> None:
    # https://docs.slack.dev/authentication/verifying-requests-from-slack, its example.
    body = (
        "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow"
        "&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner"
        "&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands"
        "%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
        "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    headers = signed("8f742231b10e8888abcd99yyyzzz85a5", 1531420618, body)
    expected = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    assert headers["X-Slack-Signature"] == expected


async def test_a_bolt_app_takes_events_commands_and_clicks_over_http() -> None:
    workspace = populated(Workspace(MANIFEST, limits=UNHURRIED))
    client = AsyncWebClient(workspace.bot_token)
    app = AsyncApp(client=client, signing_secret=workspace.app.signing_secret)
    heard: list[str] = []

    @app.event("message")
    async def message(event: dict[str, Any]) -> None:
        heard.append(event["text"])

    @app.command("/echo")
    async def echo(ack: Any, command: dict[str, Any]) -> None:
        await ack(f"You typed {command['text']!r}.")

    @app.shortcut("echo_any")
    async def shortcut(ack: Any) -> None:
        await ack()

    async with TestServer(app.web_app(path="/slack/events")) as server:
        url = str(server.make_url("/slack/events"))
        async with Sandbox(workspace, request_url=url) as slack:
            client.base_url = slack.api_url
            ann = slack.person("ann")
            ann.post("help", "hello & goodbye")
            await slack.until(lambda: heard == ["hello &amp; goodbye"])
            await slack.settled(ann.command("help", "/echo", "a + b = ü"))
            assert [each.text for each in ann.ephemerals("help")] == ["You typed 'a + b = ü'."]
            assert (await slack.settled(ann.shortcut("echo_any"))).is_acked


async def test_an_event_is_sent_again_with_its_number_and_reason(
    listener: tuple[Listener, str],
) -> None:
    app, url = listener
    clock = ManualClock()
    workspace = populated(Workspace(MANIFEST, clock=clock, limits=Limits.off()))
    app.answers = [web.Response(status=500), web.Response(status=404), web.Response()]
    async with Sandbox(workspace, request_url=url) as slack:
        slack.person("ann").post("help", "hello")
        [delivery] = workspace.deliveries.latest()
        for attempt, wait_s in ((1, 0), (2, 60)):
            await slack.until(lambda attempt=attempt: delivery.attempt == attempt)
            clock.advance(wait_s)
        assert (await slack.settled(delivery)).is_acked
    retries = [
        (headers.get("X-Slack-Retry-Num"), headers.get("X-Slack-Retry-Reason"))
        for headers, _ in app.got
    ]
    assert retries == [(None, None), ("1", "http_error"), ("2", "http_error")]
    assert len({body for _, body in app.got}) == 1


@pytest.mark.parametrize(
    ("answer", "failure"),
    [(web.Response(status=403), "http_client_error"), (None, "dispatch_failed")],
)
async def test_a_command_that_fails_is_not_sent_again(
    listener: tuple[Listener, str], answer: web.Response | None, failure: str
) -> None:
    app, url = listener
    app.answers = [answer] if answer else []
    workspace = populated(Workspace(MANIFEST, limits=UNHURRIED))
    # Nothing listens on port 1.
    nobody = "http://127.0.0.1:1/slack/events"
    async with Sandbox(workspace, request_url=url if answer else nobody) as slack:
        delivery = slack.person("ann").command("help", "/echo", "hello")
        assert (await slack.settled(delivery)).failure == failure


async def test_an_app_may_want_no_retries(listener: tuple[Listener, str]) -> None:
    app, url = listener
    app.answers = [web.Response(status=500, headers={"X-Slack-No-Retry": "1"})]
    workspace = populated(Workspace(MANIFEST, limits=UNHURRIED))
    async with Sandbox(workspace, request_url=url) as slack:
        slack.person("ann").post("help", "hello")
        [delivery] = workspace.deliveries.latest()
        assert (await slack.settled(delivery)).failure == "http_service_error"
    assert len(app.got) == 1
