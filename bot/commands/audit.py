"""`judge-bot audit`: who forgot, purged, exported or changed settings, and when."""

from datetime import datetime

import typer

from bot.commands.opened import opened_database, reading
from bot.store.audit import Act, Action, Audit
from judge.scoring.numbers import number_of


async def show(since: datetime | None) -> None:
    """Prints a line for each act since then, newest last, with times in UTC."""
    async with opened_database() as database:
        with reading(""):
            acts = await Audit(database).since(since)
    for act in acts:
        what = act.what.replace("_", " ")
        line = f"{act.at:%Y-%m-%d %H:%M:%S}  {act.team_id}  {act.who}  {what}  {_about(act)}"
        typer.echo(line.rstrip())
    if not acts:
        typer.echo(
            f"nothing was noted since {since:%Y-%m-%d}" if since else "nothing was noted yet"
        )


def _about(act: Act) -> str:
    if act.what == Action.PURGED and act.cases is None:
        return f"everything of {act.team_id}"
    count = number_of(act.cases, "case") if act.cases is not None else ""
    case = f"case {act.case_id}" if act.case_id is not None else ""
    return ", ".join(part for part in (act.channel_id, act.user_id, case, count) if part)
