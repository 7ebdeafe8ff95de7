"""`judge-bot purge`: deletes old cases."""

from datetime import timedelta

import typer
from sqlalchemy.exc import DBAPIError

from bot.commands.opened import operator
from bot.domain.clock import utc_now
from bot.domain.numbers import number_of
from bot.errors import BotError
from bot.settings import StoreSettings, load
from bot.store import Store


async def purge(days: int | None, *, is_dry: bool) -> None:
    """Deletes cases older than `days`, or than RETENTION_DAYS by default, and prints how many."""
    settings = load(StoreSettings)
    days = days or settings.retention_days
    if days is None:
        raise BotError("give --days N, or set RETENTION_DAYS")
    before = utc_now() - timedelta(days=days)
    store = await Store.open_existing(settings.database_url)
    try:
        old, total = await store.forgetting.count(before), sum((await store.cases.counts()).values())
        age = f"{number_of(days, 'day')} (created before {before:%Y-%m-%d %H:%M} UTC)"
        typer.echo(f"{old:,} of {total:,} cases are older than {age}")
        if is_dry:
            typer.echo("nothing was deleted (--dry-run)")
            return
        deleted = await store.forgetting.forget_older(before, by=operator())
        await store.watches.drop_replies(before)
        await store.thumbs.drop_older(before)
        typer.echo(f"{number_of(deleted, 'case')} deleted, with texts, ratings and labels")
        if not await store.forgetting.scrub():
            typer.echo("SQLite's journal is in use; the bot empties it with what it deletes next, or this command does")
    except DBAPIError as exc:
        raise BotError(f"the database cannot be written ({exc.orig}); what was deleted before stays deleted") from exc
    finally:
        await store.close()
