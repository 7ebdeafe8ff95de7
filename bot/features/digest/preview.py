"""`judge-bot digest --channel CHANNEL`: a channel's digest in the terminal, with its charts."""

from typing import Any

from rich.bar import Bar
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bot.feature import Services
from bot.features.digest.poster import draft, schedule_of
from bot.slack.mrkdwn import to_plain

_WIDTH = 80


async def preview(services: Services, channel_id: str) -> None:
    """Prints the digest of the last finished week of a channel. Nothing is posted."""
    settings = await services.store.channels.of(services.identity.team_id, channel_id)
    week = schedule_of(services, settings).latest(services.clock())
    digest, _ = await draft(services, settings, week)
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH
    for block in (each for each in digest.blocks if each["type"] != "actions"):
        console.print(_render(block))
        console.print()


def _render(block: dict[str, Any]) -> RenderableType:
    match block["type"]:
        case "data_visualization":
            return _chart(block)
        case "data_table":
            header, *rows = [[str(cell["text"]) for cell in row] for row in block["rows"]]
            table = Table(*header, title=block["caption"], title_justify="left", title_style="bold")
            for row in rows:
                table.add_row(*row)
            return table
        case "context":
            return Text(to_plain(block["elements"][0]["text"]).replace("*", ""), style="dim")
        case _:
            return Text(to_plain(block["text"]["text"]).replace("*", ""))


def _chart(block: dict[str, Any]) -> RenderableType:
    chart = block["chart"]
    points = chart["series"][0]["data"]
    most = max(point["value"] for point in points)
    grid = Table.grid(padding=(0, 1))
    for point in points:
        grid.add_row(point["label"], Bar(most or 1, 0, point["value"], width=_WIDTH // 2))
    return Group(Text(block["title"], style="bold"), grid)
