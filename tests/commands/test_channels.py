"""`--channel`: an id, or a name for which Slack is asked."""

from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from bot.commands.channels import find_channel
from bot.errors import BotError
from bot.slack.client import web_client
from pocket_slack import Sandbox
from tests.programs import pocket_slack
from tests.stage import CHANNEL


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with pocket_slack() as slack:
        yield slack


@pytest.fixture
async def client(slack: Sandbox) -> AsyncIterator[AsyncWebClient]:
    async with web_client(SecretStr(slack.bot_token), slack.api_url) as client:
        yield client


async def test_id_and_name_are_the_same_channel(slack: Sandbox, client: AsyncWebClient) -> None:
    channel_id = slack.workspace.channel(CHANNEL).id
    for given in (CHANNEL, f"#{CHANNEL}", channel_id):
        assert await find_channel(given, client) == channel_id


async def test_name_that_cannot_be_found_says_to_give_the_id(
    slack: Sandbox, client: AsyncWebClient
) -> None:
    with pytest.raises(BotError, match=r"in no channel.*give the channel's id"):
        await find_channel("general", client)
    client.token = "xoxb-revoked"
    with pytest.raises(BotError, match=r"does not list the app's channels .*give the channel's id"):
        await find_channel(CHANNEL, client)


async def test_name_of_two_channels_is_asked_about(slack: Sandbox, client: AsyncWebClient) -> None:
    other = slack.workspace.add_channel(CHANNEL, [slack.workspace.bot], is_private=True)
    with pytest.raises(BotError, match=f"give the id of one: .*{other.id}"):
        await find_channel(CHANNEL, client)
