"""`judge-bot digest --preview CHANNEL`: a channel's digest in the terminal."""

from contextlib import AsyncExitStack

from bot.app import make_services
from bot.domain.clock import Clock, utc_now
from bot.settings import Settings
from bot.slack.client import identify, web_client
from bot.store import Store


async def preview(settings: Settings, channel: str, clock: Clock = utc_now) -> None:
    """Prints the digest of the last finished week of a channel, given by name or id. Nothing is posted.

    Raises:
        BotError: No such channel, or Slack cannot be asked.
    """
    async with AsyncExitStack() as stack:
        store = await Store.open_existing(settings.database_url)
        stack.push_async_callback(store.close)
        client = await stack.enter_async_context(web_client(settings.slack_bot_token, settings.slack_api_url))
        await make_services(settings, store, client, await identify(client), clock=clock).preview(channel)
