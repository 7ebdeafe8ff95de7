"""`judge-bot installations`: the workspaces that have installed the app, and how to end one.

It shows no tokens.
"""

import typer

from bot.commands.opened import opened_database, reading
from bot.errors import BotError
from bot.store.installations import DATA_KEPT, Installations


async def show() -> None:
    async with opened_database() as database:
        with reading(""):
            found = await Installations(database).all()
    if not found:
        typer.echo("the app was not installed by OAuth yet: open /slack/install in a browser")
    for each in found:
        kind = "organisation" if each.is_organisation else "workspace"
        since = f"since {each.installed_at:%Y-%m-%d %H:%M}"
        left = f", removed {each.left_at:%Y-%m-%d %H:%M}" if each.left_at else ""
        typer.echo(f"{each.team_id}  {kind} {each.name}, app {each.app_id}, {since}{left}")


async def remove(team_id: str) -> None:
    """Does what happens when Slack says that the app was removed, whose word may have been lost."""
    async with opened_database() as database:
        if not await Installations(database).end(team_id):
            raise BotError(
                f"{team_id[:40]!r} is not installed; judge-bot installations list names what is"
            )
    typer.echo(
        f"{team_id}: its token is deleted, its watches and digests have ended. Its data is "
        f"deleted in {DATA_KEPT.days} days, or with judge-bot purge --team {team_id}. Remove the "
        "app in Slack, too."
    )
