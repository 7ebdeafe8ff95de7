"""Runs a command's work with a progress bar, until its end or a signal."""

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

    from judge.scoring.judging import Judge

_REFRESH_S = 0.2

Result = TypeVar("Result")


async def run_interruptibly(
    judge: "Judge", call: Coroutine[Any, Any, Result], progress: Callable[[], Coroutine[Any, Any, None]]
) -> Result:
    """Runs the call until it ends or SIGTERM cancels it, with a progress bar on a terminal; then closes the judge."""
    work = asyncio.create_task(call)
    loop = asyncio.get_running_loop()
    # Python delivers signals only to the main thread.
    is_main = threading.current_thread() is threading.main_thread()
    if is_main:
        before = signal.signal(signal.SIGTERM, lambda *_: loop.call_soon_threadsafe(work.cancel) and None)
    bar = asyncio.create_task(progress()) if sys.stderr.isatty() else None
    try:
        async with judge:
            return await work
    finally:
        if is_main:
            signal.signal(signal.SIGTERM, before)
        if bar:
            bar.cancel()
            await asyncio.wait([bar])


async def show_progress(done: Callable[[], int], total: Callable[[], int], unit: str = "rows") -> None:
    with _make_bar(unit) as bar:
        rows = bar.add_task("", total=total() or None, completed=done())
        try:
            while True:
                await asyncio.sleep(_REFRESH_S)
                bar.update(rows, total=total() or None, completed=done())
        finally:
            bar.update(rows, total=total(), completed=done())


def _make_bar(unit: str) -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed or 0:,.1f} {unit}/s")

    console = Console(stderr=True)
    return Progress(BarColumn(24), MofNCompleteColumn(), Rate(), "left", TimeRemainingColumn(), console=console)
