"""Runs a command's work with a progress bar, until its end or a signal."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
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
    with suppress(RuntimeError):  # in a thread, to which Python delivers no signals
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, work.cancel)
    bar = asyncio.create_task(progress()) if sys.stderr.isatty() else None
    try:
        async with judge:
            return await work
    finally:
        if bar:
            bar.cancel()
            await asyncio.wait([bar])


async def show_progress(rows: Callable[[], tuple[int, int]]) -> None:
    """Shows how many rows are done, of how many."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    with Progress(
        BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn(), console=console
    ) as bar:
        task = bar.add_task("")
        try:
            while True:
                done, total = rows()
                bar.update(task, total=total or None, completed=done)
                await asyncio.sleep(0.2)
        finally:
            done, total = rows()
            bar.update(task, total=total, completed=done)
