"""A `response_url` that is not Slack's: nothing is posted there, and the person is told by another
way.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.slack import ids
from bot.slack.messenger import to_response_hosts
from pocket_slack import Delivery, payloads
from tests.stage import CHANNEL, Stage
from tests.tables import each


@dataclass
class Stranger:
    """A server of somebody else's, and what was posted to it."""

    url: str = ""
    heard: list[str] = field(default_factory=list)

    async def hear(self, request: web.Request) -> web.Response:
        self.heard.append(await request.text())
        return web.Response(text="ok")


@pytest.fixture
async def stranger() -> AsyncIterator[Stranger]:
    found = Stranger()
    app = web.Application()
    app.router.add_post("/hook", found.hear)
    async with TestServer(app, host="127.0.0.1") as server:
        found.url = str(server.make_url("/hook"))
        yield found


def command(stage: Stage, url: str) -> Delivery:
    channel = stage.slack.workspace.channel(CHANNEL)
    typed = payloads.slash_command(
        stage.slack.workspace, stage.ann.user, channel, ids.COMMAND, "recent"
    )
    return stage.slack.workspace.deliveries.send("slash_commands", typed | {"response_url": url})


SLACKS = ("https://hooks.slack.com/", "https://hooks.slack-gov.com/")


def test_the_addresses_are_slacks_and_those_of_a_stand_in() -> None:
    for own in (
        "https://slack.com/api/",
        "https://slack-gov.com/api/",
        "https://acme.enterprise.slack.com/api/",
    ):
        assert to_response_hosts(own) == SLACKS
    assert to_response_hosts("http://127.0.0.1:8123/api/") == (*SLACKS, "http://127.0.0.1:8123/")
    assert to_response_hosts("https://notslack.com/api/") == (*SLACKS, "https://notslack.com/")


@each(
    "url",
    [
        "http://hooks.slack.com/commands/1",
        "https://hooks.slack.com.evil.example/1",
        "https://hooks.slack.com@evil.example/1",
        "https://hooks.slack.com:1@evil.example/",
        "https://hooks.slack.com\\@evil.example/1",
        "https://evil.example/https://hooks.slack.com/",
        "https://slack.com/api/chat.postMessage",
        "https://hooks.slack.com",
        " https://hooks.slack.com/1",
    ],
)
def test_what_only_looks_like_slacks_address_is_none(url: str) -> None:
    assert not url.startswith(to_response_hosts("https://slack.com/api/"))


@pytest.mark.needs("home")
async def test_nothing_is_posted_to_an_address_that_is_not_slacks(
    stage: Stage, stranger: Stranger
) -> None:
    await stage.slack.settled(command(stage, stranger.url))
    await stage.told(stage.ann)
    assert stranger.heard == []
