"""`judge-bot release`: marks a release of a watched assistant, as a deployment's last step."""

import typer

from bot.app import make_services
from bot.commands.channels import find_channel
from bot.commands.opened import operator
from bot.errors import BotError
from bot.settings import Settings
from bot.slack.client import identify, web_client
from bot.store import Store
from bot.store.figures import Place


async def release(settings: Settings, channel: str, assistant: str, note: str) -> None:
    """Marks it now and prints how many scores a comparison needs."""
    async with (
        await Store.open_existing(settings.database_url) as store,
        web_client(settings.slack_bot_token, settings.slack_api_url) as client,
    ):
        identity = await identify(client)
        place = Place(identity.team_id, (await find_channel(channel, client)).id)
        for each in make_services(settings, store, client, identity).features:
            if each.release:
                try:
                    typer.echo(await each.release(place, f"{assistant} {note}", operator()))
                except ValueError as exc:
                    raise BotError(f"--assistant {assistant!r}: {exc}") from exc
