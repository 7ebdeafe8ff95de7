"""`judge-bot digest --channel CHANNEL`: a channel's digest in the terminal."""

from bot.app import make_services
from bot.commands.channels import find_channel
from bot.domain.clock import Clock, utc_now
from bot.errors import SlackError
from bot.settings import Settings
from bot.slack.client import identify, web_client
from bot.store import Store


async def preview(settings: Settings, given: str, clock: Clock = utc_now) -> None:
    """Prints the digest of the last finished week of a channel, given by name or id. Nothing is posted."""
    async with (
        await Store.open_existing(settings.database_url) as store,
        web_client(settings.slack_bot_token, settings.slack_api_url) as client,
    ):
        identity = await identify(client)
        channel = await find_channel(given, client)
        if channel.name is None:
            raise SlackError(
                f"--channel {channel.id}: Slack does not list it among the app's channels; /invite it there"
            )
        await make_services(settings, store, client, identity, clock=clock).preview(channel.id)
