"""A progress bar on standard error, for those who sit before it."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from judge.batch.run import Batch

if TYPE_CHECKING:
    from rich.progress import Progress

_REFRESH_S = 0.2


async def show_progress(batch: Batch, total: Callable[[], int]) -> None:
    """Draws the bar with rate and time left until it is cancelled."""
    with _make_bar() as bar:
        rows = bar.add_task("", total=total(), completed=batch.done)
        try:
            while True:
                await asyncio.sleep(_REFRESH_S)
                bar.update(rows, total=total(), completed=batch.done)
        finally:
            bar.update(rows, total=total(), completed=batch.done)


def _make_bar() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed or 0:,.1f} rows/s")

    console = Console(stderr=True)
    return Progress(BarColumn(24), MofNCompleteColumn(), Rate(), "left", TimeRemainingColumn(), console=console)
