"""`judge-bot export --standings`: the standing of each assistant as every screen shows it, for other
programs.
"""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import typer

from bot.commands import opened
from bot.commands.export import write_rows
from bot.domain.standing import Standing
from bot.store.database import Database
from bot.store.names import Names
from bot.store.standings import Standings
from judge.scoring.numbers import number_of

_COLUMNS = (
    *("team", "channel", "assistant", "name", "direction", "since", "level", "level_low"),
    *("level_high", "scores", "lowest", "highest", "level_before", "whose", "judge_version"),
    "looked_at",
)


async def export_standings(path: Path | None, form: str | None) -> None:
    """Writes a row for each assistant, and prints their number."""
    async with opened.opened_database() as database:
        count = await write_rows(path, form, _COLUMNS, _rows(database))
    typer.echo(f"{number_of(count, 'standing')} written", err=True)


async def _rows(database: Database) -> AsyncIterator[Mapping[str, Any]]:
    with opened.reading():
        standings = await Standings(database).newest()
        names = await Names(database).all()
    for standing in standings:
        where = {
            "team": standing.team_id,
            "channel": standing.channel_id or None,
            "assistant": standing.author_id,
            "name": names.get((standing.team_id, standing.author_id)),
        }
        yield where | to_row(standing)


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
