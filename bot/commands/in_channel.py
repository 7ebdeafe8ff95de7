"""`judge-bot digest` and `judge-bot release`: what features do in one channel for an operator."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import typer

from bot.app import make_services
from bot.commands.channels import find_channel, opened_slack
from bot.commands.opened import one_team, operator
from bot.domain.clock import Clock, utc_now
from bot.errors import BotError
from bot.services import Services
from bot.settings import Settings
from bot.slack.client import identify
from bot.store import Store
from bot.store.figures import Place


@asynccontextmanager
async def _opened(
    settings: Settings, given: str, clock: Clock
) -> AsyncIterator[tuple[Services, str]]:
    async with (
        await Store.open_existing(settings.database_url) as store,
        opened_slack(settings, store.database, given) as client,
    ):
        identity = await identify(client)
        one_team("--channel", [identity.team_id], given, "SLACK_BOT_TOKEN is for another workspace")
        services = make_services(settings, store, client, identity, clock=clock)
        yield services, await find_channel(given, client)


async def preview(settings: Settings, given: str, week: str = "", clock: Clock = utc_now) -> None:
    """Prints the digest of a week of a channel, by default the last one. Nothing is posted."""
    async with _opened(settings, given, clock) as (services, channel_id):
        for each in services.features:
            if each.preview:
                try:
                    await each.preview(channel_id, week)
                except ValueError as exc:
                    raise BotError(f"--week {week!r}: {exc}") from exc


async def release(settings: Settings, given: str, assistant: str, note: str) -> None:
    """Marks a release now and prints how many scores a comparison needs."""
    async with _opened(settings, given, utc_now) as (services, channel_id):
        place = Place(services.identity.team_id, channel_id)
        for each in services.features:
            if each.release:
                try:
                    typer.echo(await each.release(place, f"{assistant} {note}", operator()))
                except ValueError as exc:
                    raise BotError(f"--assistant {assistant!r}: {exc}") from exc
