"""`judge-bot purge`: deletes old cases, or everything of a workspace."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import typer
from sqlalchemy.exc import DBAPIError

from bot.commands.opened import operator
from bot.domain.clock import utc_now
from bot.domain.numbers import number_of
from bot.errors import BotError
from bot.settings import StoreSettings, load
from bot.store import Store


@asynccontextmanager
async def _opened(settings: StoreSettings) -> AsyncIterator[Store]:
    store = await Store.open_existing(settings.database_url)
    try:
        yield store
    except DBAPIError as exc:
        raise BotError(f"the database cannot be written ({exc.orig}); what was deleted before stays deleted") from exc
    finally:
        await store.close()


async def purge(days: int | None, *, is_dry: bool) -> None:
    """Deletes cases older than `days`, or than RETENTION_DAYS by default, and prints how many."""
    settings = load(StoreSettings)
    days = days or settings.retention_days
    if days is None:
        raise BotError("give --days N, or set RETENTION_DAYS")
    before = utc_now() - timedelta(days=days)
    async with _opened(settings) as store:
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
        await _scrub(store)


async def purge_team(team_id: str, *, is_dry: bool, is_sure: bool) -> None:
    """Deletes everything of a workspace, after a question in the terminal."""
    async with _opened(load(StoreSettings)) as store:
        rows = await store.forgetting.count_of_team(team_id)
        if not rows:
            raise BotError(f"--team {team_id[:40]!r}: nothing is stored of a workspace with this id")
        typer.echo(f"{number_of(rows, 'row')} of workspace {team_id}: cases, labels, watches, rubrics, settings, audit")
        if is_dry:
            typer.echo("nothing was deleted (--dry-run)")
            return
        is_sure or typer.confirm("Delete them all? Messages in Slack stay.", abort=True)
        deleted = await store.forgetting.forget_team(team_id, operator())
        typer.echo(f"{number_of(deleted, 'case')} deleted, with everything else of {team_id}")
        await _scrub(store)


async def _scrub(store: Store) -> None:
    if not await store.forgetting.scrub():
        typer.echo("SQLite's journal is in use; the bot empties it with what it deletes next, or this command does")
