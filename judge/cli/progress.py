"""Runs a command's work with a progress bar, until its end or a signal."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

    from judge.scoring.judging import Judge

Result = TypeVar("Result")


async def run_interruptibly(
    judge: "Judge",
    call: Coroutine[Any, Any, Result],
    progress: Callable[[], Coroutine[Any, Any, None]],
) -> Result:
    """Runs the call until it ends or SIGTERM cancels it, with a progress bar on a terminal; then
    closes the judge.
    """
    work = asyncio.create_task(call)
    with suppress(RuntimeError):  # on Windows, and in a thread, to which Python delivers no signals
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, work.cancel)
    bar = asyncio.create_task(progress()) if sys.stderr.isatty() else None
    try:
        async with judge:
            return await work
    finally:
        if bar:
            bar.cancel()
            await asyncio.wait([bar])


async def show_progress(
    done: Callable[[], int], total: Callable[[], int], unit: str = "rows"
) -> None:
    with _make_bar(unit) as bar:
        rows = bar.add_task("", total=total() or None, completed=done())
        try:
            while True:
                await asyncio.sleep(0.2)
                bar.update(rows, total=total() or None, completed=done())
        finally:
            bar.update(rows, total=total(), completed=done())


def _make_bar(unit: str) -> "Progress":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed or 0:,.1f} {unit}/s")

    console = Console(stderr=True)
    return Progress(
        BarColumn(24), MofNCompleteColumn(), Rate(), "left", TimeRemainingColumn(), console=console
    )
