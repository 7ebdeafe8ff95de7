"""A `response_url` that is not Slack's: nothing is posted there, and the person is told by another
way.
"""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.slack import ids
from bot.slack.messenger import to_response_hosts
from pocket_slack import payloads
from tests.stage import CHANNEL, Stage
from tests.tables import each


@pytest.fixture
async def stranger() -> AsyncIterator[tuple[str, list[str]]]:
    """The address of a server of somebody else's, and what was posted to it."""
    heard: list[str] = []

    async def hear(request: web.Request) -> web.Response:
        heard.append(await request.text())
        return web.Response(text="ok")

    app = web.Application()
    app.router.add_post("/hook", hear)
    async with TestServer(app, host="127.0.0.1") as server:
        yield str(server.make_url("/hook")), heard


SLACKS = ("https://hooks.slack.com/", "https://hooks.slack-gov.com/")


def test_the_addresses_are_slacks_and_those_of_a_stand_in() -> None:
    for own in ("https://slack.com/api/", "https://acme.enterprise.slack-gov.com/api/"):
        assert to_response_hosts(own) == SLACKS
    assert to_response_hosts("http://127.0.0.1:8123/api/") == (*SLACKS, "http://127.0.0.1:8123/")
    assert to_response_hosts("https://notslack.com/api/") == (*SLACKS, "https://notslack.com/")


@each(
    "url",
    [
        "http://hooks.slack.com/commands/1",
        "https://hooks.slack.com.evil.example/1",
        "https://hooks.slack.com@evil.example/1",
        "https://hooks.slack.com\\@evil.example/1",
        "https://hooks.slack.com",
    ],
)
def test_what_only_looks_like_slacks_address_is_none(url: str) -> None:
    assert not url.startswith(to_response_hosts("https://slack.com/api/"))


@pytest.mark.needs("home")
async def test_nothing_is_posted_to_an_address_that_is_not_slacks(
    stage: Stage, stranger: tuple[str, list[str]]
) -> None:
    url, heard = stranger
    workspace = stage.workspace
    channel = workspace.channel(CHANNEL)
    typed = payloads.slash_command(workspace, stage.ann.user, channel, ids.COMMAND, "recent")
    workspace.deliveries.send("slash_commands", typed | {"response_url": url})
    await stage.told(stage.ann)
    assert heard == []
