"""`judge-bot purge`: deletes old cases, or everything of a workspace."""

import sys
from datetime import timedelta

import typer
from sqlalchemy.exc import DBAPIError

from bot.commands.opened import operator
from bot.domain.clock import utc_now
from bot.errors import BotError
from bot.settings import StoreSettings, load
from bot.store import Store
from judge.scoring.numbers import number_of


async def purge(days: int | None, team_id: str | None, *, is_sure: bool) -> None:
    """Deletes cases older than `days`, or than RETENTION_DAYS by default, or all of a workspace; says how many."""
    settings = load(StoreSettings)
    days = days or settings.retention_days
    if days is None and team_id is None:
        raise BotError("give --days N, or set RETENTION_DAYS")
    try:
        async with await Store.open_existing(settings.database_url) as store:
            await (_older(store, days or 0, is_sure) if team_id is None else _team(store, team_id, is_sure))
            if not await store.forgetting.scrub():
                typer.echo("SQLite's journal is in use; the bot's next deletion empties it, or this command does")
    except DBAPIError as exc:
        raise BotError(f"the database cannot be written ({exc.orig}); what was deleted before stays deleted") from exc


async def _older(store: Store, days: int, is_sure: bool) -> None:
    before = utc_now() - timedelta(days=days)
    old, total = await store.forgetting.count(before), sum((await store.cases.counts()).values())
    age = f"{number_of(days, 'day')} (created before {before:%Y-%m-%d %H:%M} UTC)"
    typer.echo(f"{old:,} of {total:,} cases are older than {age}")
    if old and sys.stdin.isatty():  # not where a timer runs it
        is_sure or typer.confirm("Delete them all? Messages in Slack stay.", abort=True)
    deleted = await store.forgetting.forget_older(before, by=operator())
    typer.echo(f"{number_of(deleted, 'case')} deleted, with texts, ratings and labels")


async def _team(store: Store, team_id: str, is_sure: bool) -> None:
    rows = await store.forgetting.count_of_team(team_id)
    if not rows:
        raise BotError(f"--team {team_id[:40]!r}: nothing is stored of a workspace with this id")
    typer.echo(f"{number_of(rows, 'row')} of workspace {team_id}: cases, labels, watches, rubrics, settings, audit")
    is_sure or typer.confirm("Delete them all? Messages in Slack stay.", abort=True)
    deleted = await store.forgetting.forget_team(team_id, operator())
    typer.echo(f"{number_of(deleted, 'case')} deleted, with everything else of {team_id}")
