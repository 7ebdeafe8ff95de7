"""`judge-bot purge`: deletes old cases, or everything of a workspace."""

from datetime import datetime, timedelta

import typer
from sqlalchemy.exc import DBAPIError

from bot.commands.opened import operator, reading
from bot.domain.clock import utc_now
from bot.errors import BotError
from bot.settings import StoreSettings, load
from bot.store import Store
from judge.scoring.numbers import number_of


async def count(days: int | None, team_id: str | None) -> tuple[int, datetime]:
    """Says what is older than `days`, or than RETENTION_DAYS by default, or all of a workspace.

    Returns how many there are, and before when the old ones were created.
    """
    settings = load(StoreSettings)
    days = days or settings.retention_days
    if days is None and team_id is None:
        raise BotError("give --days N, or set RETENTION_DAYS")
    before = utc_now() - timedelta(days=days or 0)
    async with await Store.open_existing(settings.database_url) as store:
        with reading("; nothing was deleted"):
            if team_id is None:
                found = await store.forgetting.count(before)
                total = sum((await store.cases.counts()).values())
                age = f"{number_of(days or 0, 'day')} (created before {before:%Y-%m-%d %H:%M} UTC)"
                typer.echo(f"{found:,} of {total:,} cases are older than {age}")
                return found, before
            if not await store.forgetting.stored([team_id]):
                raise BotError(
                    f"--team {team_id[:40]!r}: nothing is stored of a workspace with this id"
                )
            typer.echo(
                f"all of workspace {team_id}: cases, labels, watches, rubrics, settings, audit"
            )
            return 1, before


async def purge(before: datetime, team_id: str | None) -> None:
    """Deletes the cases created before then, or all of a workspace; says how many."""
    try:
        async with await Store.open_existing(load(StoreSettings).database_url) as store:
            if team_id is None:
                deleted = await store.forgetting.forget_older(before, by=operator())
                rest = "texts, ratings and labels"
            else:
                deleted = await store.forgetting.forget_team(team_id, operator())
                rest = f"everything else of {team_id}"
            typer.echo(f"{number_of(deleted, 'case')} deleted, with {rest}")
            if not await store.forgetting.scrub():
                typer.echo(
                    "SQLite's journal is in use; the bot's next deletion empties it, or "
                    "this command does"
                )
    except DBAPIError as exc:
        raise BotError(
            f"the database cannot be written ({exc.orig}); what was deleted before stays deleted"
        ) from exc
