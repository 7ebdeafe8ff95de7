"""`judge-bot export --standings`: the standing of each assistant as every screen shows it, for other
programs.
"""

from pathlib import Path
from typing import Any

import typer

from bot.commands import opened
from bot.commands.export import find_format, opened_output
from bot.domain.standing import Standing
from bot.store.names import Names
from bot.store.standings import Standings
from judge.rows import files
from judge.scoring.numbers import number_of

_COLUMNS = (
    *("team", "channel", "assistant", "name", "direction", "since", "level", "level_low"),
    *("level_high", "scores", "lowest", "highest", "level_before", "whose", "judge_version"),
    "looked_at",
)


async def export_standings(path: Path | None, form: str | None) -> None:
    """Writes a row for each assistant, and prints their number."""
    kind = find_format(path, form)
    async with opened.opened_database() as database:
        with opened.reading():
            standings = await Standings(database).newest()
            names = await Names(database).all()
        with opened_output(path, kind, _COLUMNS) as output:
            for standing in standings:
                where = {
                    "team": standing.team_id,
                    "channel": standing.channel_id or None,
                    "assistant": standing.author_id,
                    "name": names.get((standing.team_id, standing.author_id)),
                }
                output.write(files.encode(where | to_row(standing)) + "\n")
    typer.echo(f"{number_of(len(standings), 'standing')} written", err=True)


def to_row(standing: Standing) -> dict[str, Any]:
    """A standing without whose it is."""
    return {
        "direction": standing.direction,
        "since": standing.since and f"{standing.since}",
        "level": standing.level,
        "level_low": standing.level_low,
        "level_high": standing.level_high,
        "scores": standing.n,
        "lowest": standing.lowest,
        "highest": standing.highest,
        "level_before": standing.before,
        "whose": standing.whose,
        "judge_version": standing.version,
        "looked_at": standing.looked_at.isoformat(),
    }
