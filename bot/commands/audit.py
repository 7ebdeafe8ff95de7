"""`judge-bot audit`: who forgot, purged, exported or changed settings, and when."""

from collections.abc import Sequence
from datetime import datetime

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.commands.opened import opened_database, reading
from bot.store.audit import Act, Action, Audit
from judge.scoring.numbers import number_of


async def show(since: datetime | None) -> None:
    """Prints the acts since then, newest last."""
    async with opened_database() as database:
        with reading(""):
            acts = await Audit(database).since(since)
    if acts:
        _print(acts)
    else:
        typer.echo(
            f"nothing was noted since {since:%Y-%m-%d}" if since else "nothing was noted yet"
        )


def _print(acts: Sequence[Act]) -> None:
    has_teams = len({act.team_id for act in acts}) > 1
    table = Table(box=None, pad_edge=False)
    for name in ("when (UTC)", *(("team",) if has_teams else ()), "who", "what", "about"):
        table.add_column(Text(name), overflow="fold")
    for act in acts:
        team = (act.team_id,) if has_teams else ()
        count = number_of(act.cases, "case") if act.cases is not None else ""
        case = f"case {act.case_id}" if act.case_id is not None else ""
        about = ", ".join(part for part in (act.channel_id, act.user_id, case, count) if part)
        if act.what == Action.PURGED and act.cases is None:
            about = f"everything of {act.team_id}"
        cells = (f"{act.at:%Y-%m-%d %H:%M:%S}", *team, act.who, act.what.replace("_", " "), about)
        table.add_row(*map(Text, cells))
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 80
    console.print(table)
